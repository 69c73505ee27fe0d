// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"math"
	"math/rand/v2"

	"windtunnel/k6/internal/difference"
)

// Kept is a run that is judged by runs that were kept: two primary metrics, speed and CPU per operation, and so many
// secondary ones, which are judged where enough runs were kept.
type Kept struct {
	Noise     Noise
	CV        float64
	Runs      int     // that were kept
	Secondary int     // metrics
	Slower    float64 // what the run's speed is worse by than the kept ones', as a fraction
	WorseBy   float64 // the bound, as a fraction
}

// machineDrift is what a machine may change by from one day to another; each interval is wider by it.
const machineDrift = 0.1

// Count simulates so many runs; the same seed gives the same answer. Met and Missed are of the speed alone.
func (k Kept) Count(runs int, seed uint64) Answers {
	all := Answers{Runs: runs}
	for i := range runs {
		metrics := k.draw(rand.New(rand.NewPCG(seed, uint64(i))))
		answers, breaks := difference.Judge(metrics, nil, difference.Look{Failures: true})
		switch answers[0].Outcome {
		case difference.Within:
			all.Met++
		case difference.Beyond:
			all.Missed++
		}
		switch difference.Overall(metrics, answers, breaks) {
		case difference.Within:
			all.Passed++
		case difference.Beyond:
			all.Failed++
		default:
			all.Unclear++
		}
	}
	return all
}

func (k Kept) draw(random *rand.Rand) []difference.Metric {
	machine := newMachine(random, k.Noise, k.CV, k.Runs+1)
	drifts := make([]float64, k.Runs+1)
	for i := range drifts {
		drifts[i] = machine.next()
	}
	var metrics []difference.Metric
	for i := range 2 + k.Secondary {
		values := make([]float64, k.Runs+1)
		for run := range values {
			values[run] = drifts[run] + machine.draw()
		}
		own := values[k.Runs]
		if i == 0 {
			own += math.Log1p(k.Slower)
		}
		role := difference.Primary
		switch {
		case i >= 2 && k.Runs < difference.FewestKept:
			role = difference.Shown
		case i >= 2:
			role = difference.Secondary
		}
		metrics = append(metrics, difference.Metric{Shift: difference.Predicted(values[:k.Runs], own, math.Log1p(machineDrift)),
			Bound: math.Log1p(k.WorseBy), Role: role})
	}
	return metrics
}
