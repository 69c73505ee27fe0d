// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"testing"

	"windtunnel/k6/internal/result"
)

func TestRoundTripsAreACountThatFailsAnywhere(t *testing.T) {
	e := complete()
	e.Operations[0].Bounds = bounds(map[string]float64{"round_trips": 3})
	slope := func(med float64) fake {
		return sent(1000, 0).with(fake{"operation_round_trips{operation:send}": {"count": 1, "med": med}})
	}
	isJudged(t, "as many", judged(t, e, slope(3.2)), result.Pass, "")
	isJudged(t, "fewer", judged(t, e, slope(1.9)), result.Pass, "")
	isJudged(t, "one more", judged(t, e, slope(4.1)), result.Fail, "send: 4 round trips, at most 3")
	isJudged(t, "two more, or three", judged(t, e, slope(5.4)), result.Fail, "send: 5 round trips, at most 3")
	isJudged(t, "three or four", judged(t, e, slope(3.5)), result.Inconclusive, "")
	isJudged(t, "none", judged(t, e, sent(1000, 0)), result.Inconclusive, "")
	// The count also fails on a busy machine.
	e.Counts.Dropped = 5
	isJudged(t, "dropped iterations", judged(t, e, slope(3)), result.Inconclusive, "")
	isJudged(t, "dropped iterations, and one more", judged(t, e, slope(4)), result.Fail, "send: 4 round trips, at most 3")
}
