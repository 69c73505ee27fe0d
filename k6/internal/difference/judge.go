// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"cmp"
	"math"
	"slices"
)

// Role is what a metric can do to the verdict.
type Role int

const (
	// Shown is evidence that decides nothing.
	Shown Role = iota
	// Secondary breaks the gate, but need not be within its bound.
	Secondary
	// Primary must be within its bound.
	Primary
)

// Outcome is where a metric of B lies against its bound.
type Outcome string

// The outcomes.
const (
	// Within: the whole interval is below the bound.
	Within Outcome = "within"
	// Beyond: significantly worse, and the estimate is beyond the bound.
	Beyond Outcome = "beyond"
	// Unclear: neither.
	Unclear Outcome = "unclear"
)

// Metric is what is judged: by how much B is worse, and what is tolerated of it, in the shift's scale.
type Metric struct {
	Shift Shift
	// Gate is the same shift with the pairs in which B failed: B is far worse in them. It breaks the gate in place of Shift. Its N
	// is 0 if B never failed.
	Gate Shift
	// Cautious is the same shift with the pairs that were left out: with their values, or as if B was far worse in them. Its
	// N is 0 if no pair was left out. A metric is within its bound only if both shifts are.
	Cautious Shift
	Bound    float64
	Role     Role
}

// Answer is what there is to say of a metric. Lo and Hi are the interval of the look, nil where the pairs are too few for
// it. P is two-sided. Significant says that there is a difference at all: the interval leaves 0 out, whatever the number of
// metrics. It is a word for people, and decides nothing.
type Answer struct {
	Estimate    float64
	Lo, Hi      *float64
	P           float64
	Outcome     Outcome
	Significant bool
}

// Judge answers for all metrics of a comparison and for its failures together: the more there are, the more it takes of
// each to break the gate (Holm). failures has the p-value of each kind of failure that B has more of; breaks tells of each
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
	// One more kind of errors, up to fewKinds, must not hide the others.
	for _, i := range holm(kinds, look.failureGate(), max(fewKinds, len(kinds))) {
		breaks[i] = true
	}
	return answers, breaks
}

// gate is the shift that breaks the gate.
func (m Metric) gate() Shift {
	if m.Gate.N > 0 {
		return m.Gate
	}
	return m.Shift
}

// isCautiouslyWithin reports whether the pairs that were left out could not have changed the answer.
func (m Metric) isCautiouslyWithin(look Look) bool {
	if m.Cautious.N == 0 {
		return true
	}
	_, hi, ok := m.Cautious.Interval(look.within())
	return ok && hi < m.Bound
}

// Mute returns the judged metrics, by index, that could not have broken the gate, however much worse B had been in each pair:
// their pairs are too few for their number.
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

// Overall is the outcome of a comparison: beyond where anything breaks the gate, within where all primary metrics are, of
// which there must be one.
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

// tested is a p-value and whose it is.
type tested struct {
	p  float64
	of int
}

// fewKinds of errors share what kinds of errors may err, also where fewer were met.
const fewKinds = 4

// holm returns whose p-values are significant if all together, of which there are tests, may err with probability alpha: S. Holm, A
// simple sequentially rejective multiple test procedure, 1979.
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

// PairsToDecide estimates how many pairs it takes in all until a metric with this answer is within its bound or beyond it,
// if the true shift is the estimate and the noise stays; 0 where it cannot be told, MostPairs+1 where it is more than
// MostPairs. tests are those that share the gate with it.
func PairsToDecide(m Metric, a Answer, look Look, tests int) int {
	pairs := m.Shift.N
	if a.Hi == nil || pairs == 0 {
		return 0
	}
	room := m.Bound - a.Estimate
	if room < 0 {
		// The estimate is there already: it must leave 0 behind.
		return m.Shift.pairsToShow(look.gateOf(m.Role) / float64(max(1, tests)))
	}
	return shrunk(pairs, *a.Hi-a.Estimate, room)
}

// pairsToShow estimates how many pairs it takes in all until B is worse at all, at a one-sided level.
func (s Shift) pairsToShow(level float64) int {
	estimate := s.Estimate()
	lo, _, ok := s.Interval(level)
	if s.N == 0 || !ok && estimate > 0 {
		return FewestPairs(level)
	}
	return shrunk(s.N, estimate-lo, estimate)
}

// shrunk is how many pairs it takes in all until a half of an interval is less than room, which is what shrinks it by their
// square root; more than there are.
func shrunk(pairs int, half, room float64) int {
	need := float64(pairs) * (half / room) * (half / room)
	if !(room > 0) || need > MostPairs {
		return MostPairs + 1
	}
	return max(int(math.Ceil(need)), pairs+1)
}
