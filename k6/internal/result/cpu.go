// SPDX-License-Identifier: AGPL-3.0-only

package result

import "fmt"

// WindowCPU is the CPU time of the system from the first start of the load to the end of a quiet period after it. It
// includes work between measured parts, and work deferred until after the load.
type WindowCPU struct {
	WindowS float64 `json:"window_s"`
	// QuietS is the planned length of the quiet period.
	QuietS float64 `json:"quiet_s"`
	// SystemS is the CPU time of all processes with the role system, QuietSystemS the part of it in the quiet period.
	SystemS      float64 `json:"system_s"`
	QuietSystemS float64 `json:"quiet_system_s"`
}

// MeasuredCPUS is the CPU time of the system's processes in the measured parts, or during the load if there are no
// parts.
func MeasuredCPUS(processes []Process) (seconds float64) {
	for _, p := range processes {
		if p.Role == "system" {
			seconds += p.CPUS
		}
	}
	return seconds
}

// Shares are the CPU time in the measured parts, between them and in the quiet period, each with its share of the total.
// processes must come from the same result.
func (c WindowCPU) Shares(processes []Process) (measured, between, quiet string) {
	// The two figures are read one after the other, so the remainder may be slightly negative.
	parts := min(MeasuredCPUS(processes), c.SystemS-c.QuietSystemS)
	share := func(seconds float64) string {
		if c.SystemS == 0 {
			return "0.00 s"
		}
		return fmt.Sprintf("%.2f s (%.0f %%)", seconds, 100*seconds/c.SystemS)
	}
	return share(parts), share(c.SystemS - c.QuietSystemS - parts), share(c.QuietSystemS)
}

// Text says in one line where the CPU time went; "" if it was not measured.
func (c *WindowCPU) Text(processes []Process) string {
	if c == nil {
		return ""
	}
	measured, between, quiet := c.Shares(processes)
	return fmt.Sprintf("CPU of the system over the load and %g s of quiet after it: %.2f s, of which %s in the measured parts, %s between them, %s in the quiet period",
		c.QuietS, c.SystemS, measured, between, quiet)
}
