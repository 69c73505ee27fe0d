// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"slices"

	"windtunnel/k6/internal/difference"
)

// leftOut has the runs that give a metric no sample. A pass must hold with these runs too.
type leftOut struct {
	pairs                []pairOfRuns
	unpairedA, unpairedB []table // of runs without turns
	withoutResult        int     // runs of B without turns and without figures
}

// pairOfRuns is a pair of runs. A run's figures are nil if they cannot be read.
type pairOfRuns struct {
	a, b             *table
	aFailed, bFailed bool // the side failed in this run
	used             bool // both runs are used
}

func (c *Comparison) leftOut(q Request) leftOut {
	var out leftOut
	switch {
	case c.kept:
	case !c.Interleaved:
		for _, m := range q.A {
			if t := numbers(&m); Unusable(m) != "" && t != nil {
				out.unpairedA = append(out.unpairedA, *t)
			}
		}
		for _, m := range q.B {
			switch t := numbers(&m); {
			case Unusable(m) == "":
			case t != nil:
				out.unpairedB = append(out.unpairedB, *t)
			default:
				out.withoutResult++
			}
		}
	default:
		for pair := 1; pair <= lastPair(q); pair++ {
			a, b := ofPair(q.A, pair), ofPair(q.B, pair)
			out.pairs = append(out.pairs, pairOfRuns{numbers(a), numbers(b), a != nil && failed(*a) != "", b != nil && failed(*b) != "",
				a != nil && b != nil && Unusable(*a) == "" && Unusable(*b) == ""})
		}
	}
	return out
}

func lastPair(q Request) int {
	last := q.Made
	for _, m := range append(slices.Clone(q.A), q.B...) {
		last = max(last, m.Pair)
	}
	return last
}

// ofPair returns the run of a pair, nil if it is missing.
func ofPair(runs []Measured, pair int) *Measured {
	i := slices.IndexFunc(runs, func(m Measured) bool { return m.Pair == pair })
	if i < 0 {
		return nil
	}
	return &runs[i]
}

// numbers returns the figures of a run, used or not; nil if the run has no result or an impossible figure.
func numbers(m *Measured) *table {
	if m == nil || m.Result == nil || impossible(*m.Result) != "" {
		return nil
	}
	return &tabulate([]Measured{*m})[0]
}

func (l leftOut) tables() []table {
	all := slices.Concat(l.unpairedA, l.unpairedB)
	for _, p := range l.pairs {
		for _, t := range []*table{p.a, p.b} {
			if t != nil {
				all = append(all, *t)
			}
		}
	}
	return all
}

// samples returns a metric's samples from the pairs that were left out: first from pairs in which only B failed, then
// from the others. In a pair without figures, B counts as far worse.
func (l leftOut) samples(m Metric, k key) (failed, doubtful []float64) {
	far := difference.FarWorse(m.shares())
	for _, p := range l.pairs {
		v, has := m.sampleOf(k, p.a, p.b)
		switch {
		case p.used && has:
		case p.aFailed: // a failed A does not show how much worse B is
		case p.bFailed:
			failed = append(failed, far)
		case has:
			doubtful = append(doubtful, v)
		default:
			doubtful = append(doubtful, far)
		}
	}
	return failed, doubtful
}

// withoutValue returns a value that is far worse, once for each excluded run of B without the metric.
func (l leftOut) withoutValue(m Metric, k key) []float64 {
	missing := l.withoutResult + len(l.unpairedB) - len(valuesOf(l.unpairedB, k))
	return slices.Repeat([]float64{difference.FarWorse(m.shares())}, missing)
}
