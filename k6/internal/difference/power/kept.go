// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"math"
	"math/rand/v2"

	"windtunnel/k6/internal/difference"
)

// Kept simulates a run judged by kept runs. It has two primary metrics, speed and CPU per operation. Its secondary
// metrics are judged if there are enough kept runs.
type Kept struct {
	Noise     Noise
	CV        float64
	Runs      int     // kept runs
	Secondary int     // number of secondary metrics
	Slower    float64 // loss of the run's speed against the kept runs, as a fraction
	WorseBy   float64 // bound, as a fraction
}

// machineDrift is how much a machine may change from day to day, as a fraction; each interval is wider by it.
const machineDrift = 0.1

// Count simulates the given number of runs; the same seed gives the same answer. Met and Missed are about the speed
// alone.
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
