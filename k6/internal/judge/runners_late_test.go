// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"math/rand/v2"
	"testing"
)

// TestARunnerIsWronglyCalledLateInAtMostOneOfAHundredRuns simulates runs whose requests are late with the allowed share,
// and runs with one generator that is late more often.
func TestARunnerIsWronglyCalledLateInAtMostOneOfAHundredRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	late := func(requests int, share float64) (count int64) {
		for range requests {
			if random.Float64() < share {
				count++
			}
		}
		return count
	}
	for _, c := range []struct {
		runners, requests int
		share             float64 // late share of the late runner
		found             float64 // smallest share of runs in which it is found
	}{{2, 50, 0.2, 0.9}, {2, 1000, 0.03, 0.9}, {10, 200, 0.1, 0.95}, {100, 100, 0.2, 0.95}, {100, 1000, 0.05, 0.95}} {
		const runs = 400
		wrong, found := 0, 0
		for range runs {
			called := false
			for range c.runners {
				called = called || isLate(late(c.requests, lateShare), int64(c.requests), c.runners)
			}
			if called {
				wrong++
			}
			if isLate(late(c.requests, c.share), int64(c.requests), c.runners) {
				found++
			}
		}
		// 1 % of 400 runs is 4; four standard deviations are 8.
		if wrong > 4+8 {
			t.Errorf("%+v: %d of %d runs have a runner that is called late, and none is", c, wrong, runs)
		}
		if float64(found) < c.found*runs {
			t.Errorf("%+v: it is found in %d of %d runs", c, found, runs)
		}
	}
}

func TestNoneLateIsNeverLateAndAllLateAlwaysIs(t *testing.T) {
	for _, requests := range []int64{1, 10, 100, 5_000_000} {
		if isLate(0, requests, 1) {
			t.Errorf("none of %d", requests)
		}
		if requests > 2 && !isLate(requests, requests, 100) {
			t.Errorf("all of %d", requests)
		}
	}
	// In a run of many runners, one late request of few is chance.
	if isLate(1, 10, 100) {
		t.Error("one of ten")
	}
}
