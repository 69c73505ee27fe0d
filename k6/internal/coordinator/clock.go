// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import "time"

// began is when this process did, by both of its clocks.
var began = time.Now()

// Steady is a clock that nobody sets: what the machine's clock was when this process began, and what has passed since. A clock that is
// set in mid-run, as by NTP, moves no start of a load.
func Steady() time.Time { return began.Add(time.Since(began)) }

// Set is by how much the machine's clock, which reads wall now, has been set forward since this process began.
func Set(wall time.Time) time.Duration { return wall.Round(0).Sub(Steady().Round(0)) }
