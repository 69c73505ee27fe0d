// SPDX-License-Identifier: AGPL-3.0-only

package power

import (
	"fmt"
	"testing"
)

// The bound of docs/benchmarks.md, whose tables this test prints with -v.
const keptBound = 0.3

// A run that is judged by kept ones: equal programs fail rarely, and one that is slower by the bound or more passes rarely.
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
				if noise == HeavyTails { // which the prediction does not assume
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
