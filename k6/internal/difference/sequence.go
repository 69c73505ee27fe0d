// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"slices"
)

// Series is a metric with the samples of its pairs in their order, NaN of a pair without a value: by how much B is worse than
// it may be without any notice. Bound is what is tolerated beyond that.
type Series struct {
	Samples []float64
	Bound   float64
	Role    Role
}

// Decision is the answer of a metric at the look that decided it, else at the last. Look is that one, and Pairs are those of
// them that have a value. ToDecide is about how many pairs in all, their number fixed before, would decide what is unclear: 0
// where it is decided, MostPairs+1 where it is more than MostPairs.
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

// Sequence judges all metrics together at each of the looks, which are numbers of pairs; without looks once, at all pairs,
// whose number was fixed before. What is decided at a look stays so: it needs no more pairs, so that metrics may have different
// numbers of them. Each look judges all metrics, so that the gate holds for all of them however many are left. A metric that lacks
// a value in a pair is not within its bound: nobody knows what the value would have been. It may be beyond by the others. A metric that
// could not have been beyond at a look, because its pairs are too few for the number of metrics, is not within its bound either.
func Sequence(all []Series, looks []int) []Decision {
	decisions := make([]Decision, len(all))
	if len(looks) == 0 {
		take(decisions, all, math.MaxInt, Look{})
	}
	for i, pairs := range looks {
		take(decisions, all, pairs, Look{Number: i + 1})
	}
	estimatePairs(decisions, all)
	return decisions
}

// OverallOf is the outcome of all of them together.
func OverallOf(all []Series, decisions []Decision) Outcome {
	metrics, answers := make([]Metric, len(all)), make([]Answer, len(all))
	for i := range all {
		metrics[i], answers[i] = Metric{Role: all[i].Role}, decisions[i].Answer
	}
	return Overall(metrics, answers, nil)
}

// take looks at the first pairs of all metrics.
func take(decisions []Decision, all []Series, pairs int, look Look) {
	metrics := metricsOf(all, pairs)
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
		// A later look at the same pairs has a wider interval, and nothing new to say but a decision.
		if old.Outcome == "" || now.Pairs > old.Pairs || judged && decided(now) {
			decisions[i] = now
		}
	}
}

func metricsOf(all []Series, pairs int) []Metric {
	metrics := make([]Metric, len(all))
	for i, s := range all {
		var samples []float64
		for _, v := range s.Samples[:min(len(s.Samples), pairs)] {
			if !math.IsNaN(v) {
				samples = append(samples, v)
			}
		}
		metrics[i] = Metric{Shift: Paired(samples), Bound: s.Bound, Role: s.Role}
	}
	return metrics
}

func decided(d Decision) bool { return d.Outcome == Within || d.Outcome == Beyond }

// estimatePairs says of what is unclear how many pairs, all looked at once, would decide it.
func estimatePairs(decisions []Decision, all []Series) {
	metrics := metricsOf(all, math.MaxInt)
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
