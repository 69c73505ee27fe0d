// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"testing"
	"time"

	"windtunnel/k6/internal/result"
)

// TestTimesFor: a run whose rest takes half of what it measures stays; a shorter one is made longer until it does, or until 16 pairs
// would not fit any more.
func TestTimesFor(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		whole, lasted, window, most time.Duration
		want                        int
	}{
		"measures most of its time": {30 * s, 29 * s, 28 * s, time.Hour, 1},
		"half as long a rest":       {15 * s, 13 * s, 10 * s, time.Hour, 1},
		"a start as long":           {4 * s, 2 * s, 2 * s, 10 * 60 * s, 2},
		"a long start":              {4 * s, s, s, 10 * 60 * s, 6},
		"eight times at most":       {60 * s, s, s, 100 * time.Hour, 8},
		"a clean-up that grows":     {11 * s, 8 * s, 3 * s, 10 * 60 * s, 1},
		"more time":                 {11 * s, 8 * s, 3 * s, 20 * 60 * s, 4},
		"no time":                   {4 * s, s, s, s, 1},
		"nothing measured":          {4 * s, s, 0, time.Hour, 1},
		"windows that overlap":      {10 * s, 5 * s, 50 * s, time.Hour, 2},
	} {
		begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		var r result.Result
		r.Run.Start, r.Run.End = begin, begin.Add(c.lasted)
		r.Operations = []result.Operation{{WindowS: c.window.Seconds()}}
		if got := timesFor(c.whole, r, c.most); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
