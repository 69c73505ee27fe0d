// SPDX-License-Identifier: AGPL-3.0-only

// Command judge, run by `make benchmark-judge`, prints how often the engine of comparisons errs, and how soon it knows, as
// the Markdown tables of docs/benchmarks.md.
package main

import (
	"flag"
	"fmt"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/difference/power"
)

const most = 120 // pairs, where it runs until it knows

func main() {
	comparisons := flag.Int("comparisons", 1000, "of each case")
	seed := flag.Uint64("seed", 1, "the same seed prints the same tables")
	flag.Parse()

	fmt.Printf("Until it knows, up to %d pairs, one operation; %d comparisons of each kind.\n\n", most, *comparisons)
	head("Noise | CV")
	for _, noise := range power.Noises {
		for _, cv := range []float64{0.02, 0.05, 0.1, 0.2} {
			row(fmt.Sprintf("%s | %.0f %%", noise, cv*100), power.Case{Noise: noise, CV: cv, Operations: 1, Most: most}, *comparisons, *seed)
		}
	}
	fmt.Printf("\nBy the number of operations, normal noise, CV 10 %%.\n\n")
	head("Pairs | Operations")
	for _, operations := range []int{1, 8, 24, 49} {
		for _, pairs := range []int{12, 18, 0} {
			c, name := power.Case{Noise: power.Normal, CV: 0.1, Operations: operations, Pairs: pairs}, fmt.Sprint(pairs)
			if pairs == 0 {
				c.Most, name = 38, "auto, up to 38"
			}
			row(fmt.Sprintf("%s | %d", name, operations), c, *comparisons, *seed)
		}
	}
	fmt.Printf("\nA fixed number of pairs, one operation, normal noise.\n\n")
	head("Pairs | CV")
	for _, pairs := range []int{6, 8, 10, 12, 20, 40} {
		for _, cv := range []float64{0.02, 0.05, 0.1, 0.2} {
			c := power.Case{Noise: power.Normal, CV: cv, Operations: 1, Pairs: pairs}
			row(fmt.Sprintf("%d | %.0f %%", pairs, cv*100), c, *comparisons, *seed)
		}
	}
	fmt.Printf("\nThe protocol matrix: rows of four targets each, judged together.\n\n")
	matrixHead()
	for _, rows := range []int{1, 6, 49} {
		for _, m := range []power.Matrix{{Turns: 8}, {Turns: 16}, {Looks: looksOf(rows)}} {
			m.Noise, m.CV, m.Rows = power.Normal, 0.05, rows
			matrixRow(m, *comparisons, *seed)
		}
	}
	for _, noise := range power.Noises[1:] {
		matrixRow(power.Matrix{Looks: looksOf(49), Noise: noise, CV: 0.05, Rows: 49}, *comparisons, *seed)
	}
}

// looksOf are those of `make protocols-compare`, in quick: the first has the turns with which a target can be missed.
func looksOf(rows int) []int {
	first := difference.Look{Number: 1}.FewestToBreak(difference.Primary, power.Targets*rows)
	return append([]int{first}, []int{18, 26, 38}[min(1, first/16):]...)
}

func matrixHead() {
	fmt.Println("| Turns | Rows | Noise, CV 5 % | equal: all are met | one is missed | equal, at the target: one is missed | first row beyond by 1.5 tolerances: met | missed | by a fifth: missed |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---:|---:|")
}

func matrixRow(m power.Matrix, runs int, seed uint64) {
	count := func(slower float64, byDefault bool) power.Answers {
		own := m
		own.Slower, own.Default = slower, byDefault
		return own.Count(runs, seed)
	}
	equal, at, more, far := count(0, true), count(0, false), count(1.5*power.Tolerance, true), count(0.2, true)
	turns := fmt.Sprint(m.Turns)
	if len(m.Looks) > 0 {
		turns = fmt.Sprintf("%d, further up to %d", m.Looks[0], m.Looks[len(m.Looks)-1])
	}
	fmt.Printf("| %s | %d | %s", turns, m.Rows, m.Noise)
	for _, share := range []float64{equal.Share(equal.Passed), equal.Share(equal.Failed), at.Share(at.Failed), more.Share(more.Met), more.Share(more.Missed), far.Share(far.Missed)} {
		fmt.Printf(" | %.1f %%", 100*share)
	}
	fmt.Println(" |")
}

func head(of string) {
	fmt.Printf("| %s | equal: passes | unclear | breaks the gate | pairs | slower by 1.5 bounds: passes | is found | by 2 bounds: is found | pairs |\n", of)
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
}

func row(name string, c power.Case, comparisons int, seed uint64) {
	count := func(slower float64) power.Counts {
		own := c
		own.Slower = slower
		return own.Count(comparisons, seed)
	}
	equal, more, twice := count(0), count(1.5*power.Bound), count(2*power.Bound)
	percent := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(comparisons)) }
	pairs := func(of power.Counts) string { return fmt.Sprintf("%.0f", float64(of.Pairs)/float64(comparisons)) }
	fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, percent(equal.Passed), percent(equal.Unclear), percent(equal.Broken),
		pairs(equal), percent(more.Passed), percent(more.Broken), percent(twice.Broken), pairs(twice))
}
