// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"windtunnel/k6/internal/result"
)

// rankOf ranks a verdict: higher is better for the candidate.
func rankOf(verdict string) int {
	return slices.Index([]string{result.Fail, result.Inconclusive, result.Pass}, verdict)
}

// madeRows are rows that mostly meet their targets.
func madeRows(lot *rand.Rand) (rows []ProtocolRow) {
	one := func(words ...string) string { return words[lot.IntN(len(words))] }
	for number := range 1 + lot.IntN(3) {
		candidate := side(one(ranWell, ranWell, ranWell, ranWell, ranWell, withErrors))
		candidate.Busy = lot.IntN(2) == 0
		var all []ProtocolComparison
		for _, target := range targets {
			l := line(target, one(met, met, met, met, met, met, met, met, uncertain, missed, bound))
			if l.Judged == uncertain && lot.IntN(2) == 0 {
				l.Lacks = p("not measured in turn 3 of the candidate")
			}
			all = append(all, l)
		}
		row := rowNamed(fmt.Sprintf("row-%d", number), candidate, all...)
		if lot.IntN(2) == 0 {
			row.RoundTrips = &ProtocolRoundTrips{Baseline: p(3), Candidate: p(4), OK: p(true)}
		}
		rows = append(rows, row)
	}
	return rows
}

// without removes evidence of a row, and returns what it removed.
func without(lot *rand.Rand, row *ProtocolRow) string {
	at := lot.IntN(len(row.Comparison))
	l := &row.Comparison[at]
	switch lot.IntN(7) {
	case 0:
		row.Comparison = slices.Delete(row.Comparison, at, at+1)
		return "a line"
	case 1:
		row.Comparison = nil
		return "all lines"
	case 2:
		row.Candidate = nil
		return "the candidate"
	case 3:
		l.Ratio = nil
		return "a ratio"
	case 4:
		l.Judged = ""
		return "a judgement"
	case 5:
		l.Lacks = p("not measured in turn 1 of the baseline")
		return "a figure"
	}
	row.RoundTrips = &ProtocolRoundTrips{Baseline: p(3)}
	return "a count of round trips"
}

// worse makes a row worse for the candidate, and returns how.
func worse(lot *rand.Rand, row *ProtocolRow) string {
	l := &row.Comparison[lot.IntN(len(row.Comparison))]
	switch lot.IntN(4) {
	case 0:
		l.Judged = missed
		return "missed"
	case 1:
		if l.Judged == met {
			l.Judged = uncertain
		}
		return "uncertain"
	case 2:
		row.Candidate = side("corrupted payload")
		return "corrupted"
	}
	row.RoundTrips = &ProtocolRoundTrips{Baseline: p(3), Candidate: p(9), OK: p(false)}
	return "round trips"
}

// TestNoEditOfRowsMakesAPass: removing evidence makes no pass, a worse row gets no better verdict, and the order of rows
// does not matter.
func TestNoEditOfRowsMakesAPass(t *testing.T) {
	busy := Judged{Result: result.Result{Validity: []result.Validity{*check("neighbours", result.Machine, false, "CPU 1")}}}
	passed := 0
	for seed := range uint64(8_000) {
		made := func() (rows []ProtocolRow, lot *rand.Rand) {
			lot = rand.New(rand.NewPCG(seed, 30))
			return madeRows(lot), lot
		}
		verdict := func(rows []ProtocolRow, j Judged) string {
			return ofProtocols(Protocols{Compared: true, Rows: rows}, nil, j, result.Pass).verdict
		}
		before, lot := made()
		was := verdict(before, Judged{})
		if was == result.Pass {
			passed++
		}
		rows, _ := made()
		if what := without(lot, &rows[lot.IntN(len(rows))]); verdict(rows, Judged{}) == result.Pass {
			t.Fatalf("seed %d: without %s it passes: %+v", seed, what, rows)
		}
		rows, _ = made()
		if what := worse(lot, &rows[lot.IntN(len(rows))]); rankOf(verdict(rows, Judged{})) > rankOf(was) {
			t.Fatalf("seed %d: %s, and better judged than %s: %+v", seed, what, was, rows)
		}
		rows, _ = made()
		slices.Reverse(rows)
		if is := verdict(rows, Judged{}); is != was {
			t.Fatalf("seed %d: %s, in another order %s", seed, was, is)
		}
		if verdict(before, busy) == result.Pass {
			t.Fatalf("seed %d: it passes beside others", seed)
		}
	}
	if passed < 400 {
		t.Errorf("the law is of %d rows that pass", passed)
	}
}
