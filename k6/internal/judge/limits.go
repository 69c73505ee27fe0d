// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"fmt"

	"windtunnel/k6/internal/result"
)

// checkThrottling is the check of a quota that others set for the generator.
const checkThrottling = "generator throttling"

// limitChecks returns the checks of limits of CPU and memory. A system that the kernel killed for memory has failed. A
// throttled generator is slower than the machine, so its figures say nothing about the system.
func limitChecks(limits *result.Limits) (checks []*result.Validity) {
	if limits == nil {
		return nil
	}
	if s := limits.System; s != nil && s.MemoryBytes != nil {
		c := check("memory limit", "system", true, s.Killing()+" at "+s.Text)
		if s.Killed == nil {
			c.OK = nil
		} else {
			*c.OK = *s.Killed == 0
		}
		checks = append(checks, c)
	}
	if g := limits.Generator; g != nil && (g.CPUPercent != nil || g.ThrottledPeriods > 0) {
		quota := "a quota that has ended"
		if g.CPUPercent != nil {
			quota = fmt.Sprintf("a quota of %g %% of one CPU", *g.CPUPercent)
		}
		checks = append(checks, check(checkThrottling, result.Generator, g.ThrottledPeriods == 0,
			fmt.Sprintf("k6 and the sidecar have %s from outside: %s", quota, g.Words())))
	}
	return checks
}

// worstLimits has the most throttled generator, and the system with most kills. A runner sees only the kills before its window
// closes.
func worstLimits(a, b *result.Limits) *result.Limits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	worst := *a
	if b.Generator != nil && (a.Generator == nil || b.Generator.ThrottledPeriods > a.Generator.ThrottledPeriods) {
		worst.Generator = b.Generator
	}
	if b.System != nil && (a.System == nil || b.System.Killed != nil && (a.System.Killed == nil || *b.System.Killed > *a.System.Killed)) {
		worst.System = b.System
	}
	return &worst
}
