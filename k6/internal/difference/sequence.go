// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"slices"

	"windtunnel/k6/internal/seq"
)

// Series is a metric with the samples of its pairs in order; a pair without a value has NaN. A sample is how much worse
// B is beyond the loss that counts as none. Bound is the loss that is tolerated in addition.
type Series struct {
	Samples []float64
	Bound   float64
	Role    Role
}

// Decision is the answer of a metric at the look that decided it, or at the last look. Look is that look, and Pairs the
// number of its pairs with a value. ToDecide estimates, for an unclear metric, the total number of pairs, fixed in
// advance, that would decide. It is 0 for a decided metric, and MostPairs+1 for more than MostPairs.
type Decision struct {
	Answer
	Look     Look
	Pairs    int
	ToDecide int
}

// isWhole reports whether each of the first pairs has a value.
func (s Series) isWhole(pairs int) bool {
	return !slices.ContainsFunc(s.Samples[:min(len(s.Samples), pairs)], math.IsNaN)
}

// Sequence judges all metrics together at each of the looks, which are numbers of pairs. Without looks it judges once,
// at all pairs, whose number was fixed in advance. A decision is final: a decided metric needs no more pairs, so metrics
// may have different numbers of pairs. Each look judges all metrics, so the gate's error probability holds for all of
// them, however many are still open. A metric without a value in a pair is not within its bound, because the value is
// unknown; the other pairs may still show that it is beyond. A metric is not within its bound either if too few pairs
// for the number of metrics kept it from being beyond.
func Sequence(all []Series, looks []int) []Decision {
	decisions := make([]Decision, len(all))
	whole := seq.Map(all, func(s Series) Metric { return s.metric(len(s.Samples)) })
	if len(looks) == 0 {
		take(decisions, all, whole, math.MaxInt, Look{})
	}
	for i, pairs := range looks {
		take(decisions, all, whole, pairs, Look{Number: i + 1})
	}
	estimatePairs(decisions, all, whole)
	return decisions
}

// OverallOf is the outcome of all metrics together.
func OverallOf(all []Series, decisions []Decision) Outcome {
	metrics, answers := make([]Metric, len(all)), make([]Answer, len(all))
	for i := range all {
		metrics[i], answers[i] = Metric{Role: all[i].Role}, decisions[i].Answer
	}
	return Overall(metrics, answers, nil)
}

// take takes a look at the first pairs of all metrics. whole has the metrics with all pairs.
func take(decisions []Decision, all []Series, whole []Metric, pairs int, look Look) {
	metrics := slices.Clone(whole)
	for i, s := range all {
		if len(s.Samples) > pairs {
			metrics[i] = s.metric(pairs)
		}
	}
	answers, _ := Judge(metrics, nil, look)
	for _, i := range Mute(metrics, look) {
		answers[i].Outcome = Unclear
	}
	for i, a := range answers {
		old, judged := decisions[i], all[i].Role != Shown
		if judged && decided(old) {
			continue
		}
		if a.Outcome == Within && !all[i].isWhole(pairs) {
			a.Outcome = Unclear
		}
		now := Decision{Answer: a, Look: look, Pairs: metrics[i].Shift.N}
		// A later look at the same pairs has a wider interval, so it is kept only if it decides.
		if old.Outcome == "" || now.Pairs > old.Pairs || judged && decided(now) {
			decisions[i] = now
		}
	}
}

func (s Series) metric(pairs int) Metric {
	samples := seq.Filter(s.Samples[:pairs], func(v float64) bool { return !math.IsNaN(v) })
	return Metric{Shift: Paired(samples), Bound: s.Bound, Role: s.Role}
}

func decided(d Decision) bool { return d.Outcome == Within || d.Outcome == Beyond }

// estimatePairs estimates how many pairs, all looked at once, would decide each unclear metric.
func estimatePairs(decisions []Decision, all []Series, metrics []Metric) {
	answers, _ := Judge(metrics, nil, Look{})
	tests := map[Role]int{}
	for _, s := range all {
		tests[s.Role]++
	}
	for i := range decisions {
		if decided(decisions[i]) || all[i].Role == Shown {
			continue
		}
		if !all[i].isWhole(math.MaxInt) {
			decisions[i].ToDecide = MostPairs + 1
			continue
		}
		m := metrics[i]
		fewest := Look{}.FewestToBreak(m.Role, tests[m.Role])
		if answers[i].Outcome == Within {
			decisions[i].ToDecide = fewest
			continue
		}
		decisions[i].ToDecide = max(fewest, PairsToDecide(m, answers[i], Look{}, tests[m.Role]))
	}
}
