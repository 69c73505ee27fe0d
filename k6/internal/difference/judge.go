// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"cmp"
	"math"
	"slices"
)

// Role is the effect of a metric on the verdict.
type Role int

const (
	// Shown has no effect.
	Shown Role = iota
	// Secondary breaks the gate, but need not be within its bound.
	Secondary
	// Primary must be within its bound.
	Primary
)

// Outcome is the position of a metric of B relative to its bound.
type Outcome string

// The outcomes.
const (
	// Within means that the whole interval is below the bound.
	Within Outcome = "within"
	// Beyond means significantly worse, with an estimate beyond the bound.
	Beyond Outcome = "beyond"
	// Unclear means neither.
	Unclear Outcome = "unclear"
)

// Metric is the input of the judgement: how much worse B is, and the tolerated loss, on the shift's scale.
type Metric struct {
	Shift Shift
	// Gate is the shift that includes the pairs in which B failed; B counts as far worse in them. It replaces Shift for
	// breaking the gate. Its N is 0 if B never failed.
	Gate Shift
	// Cautious is the shift that includes the excluded pairs, with their values, or as if B was far worse in them. Its N
	// is 0 without excluded pairs. A metric is within its bound only if both shifts are.
	Cautious Shift
	Bound    float64
	Role     Role
}

// Answer is the judgement of a metric. Lo and Hi are the interval of this look, nil with too few pairs. P is two-sided.
// Significant says that the interval excludes 0, whatever the number of metrics. It is for the reader, and has no effect
// on the verdict.
type Answer struct {
	Estimate    float64
	Lo, Hi      *float64
	P           float64
	Outcome     Outcome
	Significant bool
}

// Judge judges all metrics and failures of a comparison together: with more of them, each one needs stronger evidence to
// break the gate (Holm). failures has the p-value of each kind of failure that B has more of. breaks says for each kind
// whether it breaks the gate.
func Judge(metrics []Metric, failures []float64, look Look) (answers []Answer, breaks []bool) {
	answers = make([]Answer, len(metrics))
	var primary, secondary []tested
	for i, m := range metrics {
		a := &answers[i]
		a.Outcome, a.P, a.Estimate = Unclear, m.Shift.P(), m.Shift.Estimate()
		if lo, hi, ok := m.Shift.Interval(look.within()); ok {
			a.Lo, a.Hi, a.Significant = &lo, &hi, lo > 0 || hi < 0
			if hi < m.Bound && m.isCautiouslyWithin(look) {
				a.Outcome = Within
			}
		}
		switch m.Role {
		case Primary:
			primary = append(primary, tested{m.gate().AtLeast(0), i})
		case Secondary:
			secondary = append(secondary, tested{m.gate().AtLeast(0), i})
		}
	}
	for _, i := range append(holm(primary, look.primaryGate(), len(primary)), holm(secondary, look.secondaryGate(), len(secondary))...) {
		if metrics[i].gate().Estimate() > metrics[i].Bound {
			answers[i].Outcome = Beyond
		}
	}
	breaks = make([]bool, len(failures))
	kinds := make([]tested, len(failures))
	for i, p := range failures {
		kinds[i] = tested{p, i}
	}
	// Up to fewKinds, another kind of error must not hide the existing kinds.
	for _, i := range holm(kinds, look.failureGate(), max(fewKinds, len(kinds))) {
		breaks[i] = true
	}
	return answers, breaks
}

func (m Metric) gate() Shift {
	if m.Gate.N > 0 {
		return m.Gate
	}
	return m.Shift
}

// isCautiouslyWithin reports whether the excluded pairs could not have changed the outcome.
func (m Metric) isCautiouslyWithin(look Look) bool {
	if m.Cautious.N == 0 {
		return true
	}
	_, hi, ok := m.Cautious.Interval(look.within())
	return ok && hi < m.Bound
}

// Mute returns the indexes of judged metrics that could not have broken the gate, however much worse B had been in each
// pair: the number of pairs is too small for the number of metrics.
func Mute(metrics []Metric, look Look) []int {
	tests := map[Role]int{}
	for _, m := range metrics {
		tests[m.Role]++
	}
	var mute []int
	for i, m := range metrics {
		if m.Role != Shown && m.gate().leastP() > look.gateOf(m.Role)/float64(tests[m.Role]) {
			mute = append(mute, i)
		}
	}
	return mute
}

// Overall is the outcome of a comparison: beyond if anything breaks the gate, within if there are primary metrics and
// all of them are within.
func Overall(metrics []Metric, answers []Answer, breaks []bool) Outcome {
	if slices.Contains(breaks, true) {
		return Beyond
	}
	primary, overall := false, Within
	for i, m := range metrics {
		switch {
		case answers[i].Outcome == Beyond:
			return Beyond
		case m.Role == Primary:
			primary = true
			if answers[i].Outcome != Within {
				overall = Unclear
			}
		}
	}
	if !primary {
		return Unclear
	}
	return overall
}

type tested struct {
	p  float64
	of int
}

// fewKinds is the smallest number of kinds of errors that share the error probability, even if fewer kinds occurred.
const fewKinds = 4

// holm returns the indexes of the significant p-values, so that all tests together err with probability alpha. tests is
// their number. Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
func holm(all []tested, alpha float64, tests int) []int {
	slices.SortStableFunc(all, func(x, y tested) int { return cmp.Compare(x.p, y.p) })
	var found []int
	for i, t := range all {
		if t.p > alpha/float64(tests-i) {
			break
		}
		found = append(found, t.of)
	}
	return found
}

// PairsToDecide estimates the total number of pairs until a metric with this answer is within or beyond its bound, if
// the true shift is the estimate and the noise stays the same. It is 0 if unknown, and MostPairs+1 for more than
// MostPairs. tests is the number of metrics that share the gate.
func PairsToDecide(m Metric, a Answer, look Look, tests int) int {
	pairs := m.Shift.N
	if a.Hi == nil || pairs == 0 {
		return 0
	}
	room := m.Bound - a.Estimate
	if room < 0 {
		// The estimate is beyond the bound already, so the interval only needs to exclude 0.
		return m.Shift.pairsToShow(look.gateOf(m.Role) / float64(max(1, tests)))
	}
	return shrunk(pairs, *a.Hi-a.Estimate, room)
}

// pairsToShow estimates the total number of pairs until B is significantly worse, at a one-sided level.
func (s Shift) pairsToShow(level float64) int {
	estimate := s.Estimate()
	lo, _, ok := s.Interval(level)
	if s.N == 0 || !ok && estimate > 0 {
		return FewestPairs(level)
	}
	return shrunk(s.N, estimate-lo, estimate)
}

// shrunk is the total number of pairs until half of an interval is smaller than room. The interval shrinks with the
// square root of the number of pairs.
func shrunk(pairs int, half, room float64) int {
	need := float64(pairs) * (half / room) * (half / room)
	if !(room > 0) || need > MostPairs {
		return MostPairs + 1
	}
	return max(int(math.Ceil(need)), pairs+1)
}
