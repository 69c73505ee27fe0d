// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"windtunnel/k6/internal/difference"
)

// atMost is the largest number of n events at a rate, exceeded in only one of 1,000 tests.
func atMost(rate float64, n int) int {
	random := rand.New(rand.NewPCG(1, 1))
	counts := make([]int, n+1)
	const draws = 20000
	for range draws {
		hits := 0
		for range n {
			if random.Float64() < rate {
				hits++
			}
		}
		counts[hits]++
	}
	above := 0
	for k := n; ; k-- {
		if above += counts[k]; above > draws/1000 {
			return k
		}
	}
}

// TestErrorRates is a small version of `make benchmark-judge`. It covers each kind of machine, one operation and many, a
// fixed number of pairs and runs until it knows. Equal sides break the gate in at most 1 %, and a slow-down of 1.5 times
// the bound passes in at most 2 %.
func TestErrorRates(t *testing.T) {
	const n = 300
	mostBroken, mostPassed := atMost(0.01, n), atMost(0.02, n)
	for _, noise := range Noises {
		for _, c := range []Case{{CV: 0.03, Operations: 1, Most: 40}, {CV: 0.2, Operations: 1, Most: 40}, {CV: 0.1, Operations: 20, Pairs: 18}} {
			c.Noise = noise
			name := fmt.Sprintf("%s, CV %g, %d operations, %d pairs", noise, c.CV, c.Operations, c.Pairs)
			if equal := c.Count(n, 1); equal.Broken > mostBroken {
				t.Errorf("%s: equal sides break the gate in %d of %d", name, equal.Broken, n)
			}
			c.Slower = 1.5 * Bound
			if slower := c.Count(n, 2); slower.Passed > mostPassed {
				t.Errorf("%s: slower by 1.5 times the bound passes in %d of %d", name, slower.Passed, n)
			}
		}
	}
}

// TestPower: a slow-down of twice the bound is found, and equal sides pass.
func TestPower(t *testing.T) {
	const n = 300
	for _, c := range []Case{
		{CV: 0.05, Operations: 1, Pairs: 12}, {CV: 0.05, Operations: 1, Most: 12}, {CV: 0.05, Operations: 4, Most: 12},
		{CV: 0.1, Operations: 1, Pairs: 40}, {CV: 0.1, Operations: 1, Most: 40},
	} {
		c.Slower = 2 * Bound
		for _, c.Noise = range []Noise{Normal, HeavyTails, Drift} {
			if found := c.Count(n, 3); found.Broken < n*95/100 {
				t.Errorf("%+v: found in %d of %d", c, found.Broken, n)
			}
		}
	}
	equal := Case{Noise: Normal, CV: 0.07, Operations: 1, Most: 40}.Count(n, 4)
	if equal.Passed < n*95/100 {
		t.Errorf("equal sides pass in %d of %d", equal.Passed, n)
	}
}

// TestMatrix: 49 rows with four targets each, with fixed turns and until it knows. Equal sides miss a target in at most
// 1 % of runs. A row that misses its target by 1.5 times the tolerance is called met in at most 2 %.
func TestMatrix(t *testing.T) {
	const n = 100
	mostFailed, mostMet := atMost(0.01, n), atMost(0.02, n)
	for _, noise := range Noises {
		for _, m := range []Matrix{{Turns: 16}, {Looks: []int{8, 18, 26}}} {
			m.Noise, m.CV, m.Rows = noise, 0.05, 49
			name := fmt.Sprintf("%s, looks %v, %d turns", noise, m.Looks, m.Turns)
			if equal := m.Count(n, 1); equal.Failed > mostFailed {
				t.Errorf("%s: equal sides miss a target in %d of %d", name, equal.Failed, n)
			}
			m.Slower = 1.5 * Tolerance
			if slower := m.Count(n, 2); slower.Met > mostMet {
				t.Errorf("%s: what misses by 1.5 times the tolerance is met in %d of %d", name, slower.Met, n)
			}
		}
	}
	// A large miss is found once the number of turns suffices for the number of targets, and not before.
	far := Matrix{Noise: Normal, CV: 0.05, Rows: 49, Slower: 0.5, Turns: 8}
	if few := far.Count(50, 3); few.Missed > 0 || few.Met > 0 {
		t.Errorf("8 turns: %+v", few)
	}
	far.Turns, far.Looks = 0, []int{8, 18}
	if known := far.Count(50, 3); known.Missed < 50 {
		t.Errorf("18 turns: %+v", known)
	}
}

// TestEqualValuesAreNotToldApart: among equal values of a sweep, in rounds of random order, and between two equal
// ciphers, none is called better in at least 99 % of runs, on any machine.
func TestEqualValuesAreNotToldApart(t *testing.T) {
	const n = 400
	most := atMost(0.01, n)
	for _, noise := range Noises {
		for name, c := range map[string]struct{ values, rounds, figures int }{"a sweep": {4, 12, 2}, "a long one": {12, 20, 2}, "ciphers": {2, 16, 42}} {
			told := 0
			for i := range n {
				random := rand.New(rand.NewPCG(8, uint64(i)))
				machine, lot := newMachine(random, noise, 0.05, c.values*c.rounds), random.Uint64()
				all := make([][]float64, (c.values-1)*c.figures)
				for round := range c.rounds {
					met := make([]float64, c.values)
					for _, value := range difference.Order(c.values, round+1, lot) {
						met[value] = machine.next()
					}
					for j := range all {
						all[j] = append(all[j], met[1+j%(c.values-1)]-met[0]+machine.draw()-machine.draw())
					}
				}
				var shifts []difference.Shift
				for _, samples := range all {
					shifts = append(shifts, difference.Paired(samples))
				}
				if slices.ContainsFunc(difference.TellApart(shifts, 0), func(a difference.Apart) bool { return a.Better != difference.Neither }) {
					told++
				}
			}
			if told > most {
				t.Errorf("%s, %s: told apart in %d of %d", noise, name, told, n)
			}
		}
	}
}

// TestTideInStepWithTheOrder shows why the order is random: with a fixed order, or with two pairs turned together, a
// disturbance every four runs would make equal sides differ.
func TestTideInStepWithTheOrder(t *testing.T) {
	first := map[bool]int{}
	for pair := 1; pair <= 1000; pair++ {
		first[difference.FirstIsB(pair, 7)]++
	}
	if first[true] < 430 || first[true] > 570 {
		t.Errorf("B is first in %d of 1,000", first[true])
	}
	tide := Case{Noise: Tide, CV: 0.05, Operations: 1, Most: 56}.Count(400, 5)
	if most := atMost(0.01, 400); tide.Broken > most {
		t.Errorf("equal sides break the gate in %d of 400, at most %d", tide.Broken, most)
	}
}

func TestSameSeedSameCounts(t *testing.T) {
	c := Case{Noise: Normal, CV: 0.1, Operations: 2, Most: 26}
	if one, two := c.Count(50, 6), c.Count(50, 6); one != two {
		t.Errorf("%+v and %+v", one, two)
	}
}
