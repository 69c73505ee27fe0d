// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import "time"

// began is the start of this process, with the wall clock and the monotonic clock.
var began = time.Now()

// Steady is a clock without jumps: the wall clock at the start of this process, plus the monotonic time since then. If
// NTP sets the wall clock during the run, the start of the load does not move.
func Steady() time.Time { return began.Add(time.Since(began)) }

// Set is how far the wall clock, which reads wall now, has been set forward since this process began.
func Set(wall time.Time) time.Duration { return wall.Round(0).Sub(Steady().Round(0)) }
