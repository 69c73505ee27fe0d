// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"fmt"
	"strings"
)

// WindowCPU is the CPU time of the system from the first start of the load to the end of a quiet period after it. It holds
// what the system did between measured parts, and what it put off until nothing was sent.
type WindowCPU struct {
	WindowS float64 `json:"window_s"`
	// QuietS is the length of the quiet period, as it was meant.
	QuietS float64 `json:"quiet_s"`
	// SystemS is of all processes of role system, QuietSystemS the share of it in the quiet period.
	SystemS      float64 `json:"system_s"`
	QuietSystemS float64 `json:"quiet_system_s"`
}

// MeasuredCPUS is the CPU time of the system's processes in the measured parts: where there are no parts, while the load ran.
func MeasuredCPUS(processes []Process) (seconds float64) {
	for _, p := range processes {
		if p.Role == "system" {
			seconds += p.CPUS
		}
	}
	return seconds
}

// Text says on one line where the CPU time went; "" where nobody looked. The processes come from the same result.
func (c *WindowCPU) Text(processes []Process) string {
	if c == nil {
		return ""
	}
	// The two are read one after the other, so that the rest may be a little below nothing.
	measured := min(MeasuredCPUS(processes), c.SystemS-c.QuietSystemS)
	var shares []string
	for _, share := range []struct {
		seconds float64
		where   string
	}{{measured, "in the measured parts"}, {c.SystemS - c.QuietSystemS - measured, "between them"}, {c.QuietSystemS, "in the quiet period"}} {
		text := fmt.Sprintf("%.2f s", share.seconds)
		if c.SystemS > 0 {
			text += fmt.Sprintf(" (%.0f %%)", 100*share.seconds/c.SystemS)
		}
		shares = append(shares, text+" "+share.where)
	}
	return fmt.Sprintf("CPU of the system over the load and %g s of quiet after it: %.2f s, of which %s", c.QuietS, c.SystemS, strings.Join(shares, ", "))
}
