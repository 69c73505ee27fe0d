// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"windtunnel/k6/internal/difference"
)

// The bound of docs/benchmarks.md, whose tables this test prints with -v.
const keptBound = 0.3

// A run judged by kept runs: equal programs fail rarely, and a program that is slower by at least the bound passes
// rarely.
func TestOneRunAgainstKeptOnes(t *testing.T) {
	const runs = 400
	t.Log("| Kept runs | Noise | CV | equal: passes | unclear | fails | slower by the bound: passes | by 2 bounds: passes | is found | by 4 bounds: is found |")
	for _, kept := range []int{1, 6, 12} {
		for _, noise := range []Noise{Normal, HeavyTails} {
			for _, cv := range []float64{0.02, 0.05, 0.1} {
				k := Kept{Noise: noise, CV: cv, Runs: kept, Secondary: 8, WorseBy: keptBound}
				count := func(slower float64) Answers {
					k.Slower = slower
					return k.Count(runs, 1)
				}
				equal, bound, two, four := count(0), count(keptBound), count(2*keptBound), count(4*keptBound)
				share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/runs) }
				t.Logf("| %d | %s | %.0f %% | %s | %s | %s | %s | %s | %s | %s |", kept, noise, 100*cv, share(equal.Passed), share(equal.Unclear),
					share(equal.Failed), share(bound.Passed), share(two.Passed), share(two.Failed), share(four.Failed))
				name := fmt.Sprintf("%d kept runs, %s, CV %g", kept, noise, cv)
				mostFailed, mostPassed := 0.01, 0.01
				if noise == HeavyTails { // the prediction does not assume heavy tails
					mostFailed, mostPassed = 0.05, 0.02
				}
				if equal.Share(equal.Failed) > mostFailed {
					t.Errorf("%s: equal programs fail in %d of %d", name, equal.Failed, runs)
				}
				if bound.Share(bound.Passed) > mostPassed || two.Share(two.Passed) > mostPassed/2 {
					t.Errorf("%s: of programs that are slower by the bound %d pass, by twice the bound %d", name, bound.Passed, two.Passed)
				}
				if kept >= 6 && cv <= 0.02 && (equal.Share(equal.Passed) < 0.75 || two.Share(two.Failed) < 0.9) {
					t.Errorf("%s: of equal programs %d pass, and of those slower by twice the bound %d are found", name, equal.Passed, two.Failed)
				}
			}
		}
	}
}

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
