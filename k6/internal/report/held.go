// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"slices"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// heldTable is what the processes of the system held before the load, at most, and after it.
func heldTable(r result.Result) Table {
	t := Table{
		Title: "Held before and after",
		Head: []string{
			"Process", "Own memory before (MiB)", "Peak (MiB)", "After (MiB)", "Descriptors before", "Peak", "After", "Threads before", "Peak", "After",
			"Wake-ups", "Preempted", "Page faults",
		},
		Numbers: from(1), State: -1,
	}
	if r.Held == nil {
		return t
	}
	for _, p := range r.Held.Processes {
		peak := result.Process{}
		if i := slices.IndexFunc(r.Processes, func(one result.Process) bool { return one.Name == p.Name }); i >= 0 {
			peak = r.Processes[i]
		}
		after := result.Holding{}
		if p.After != nil {
			after = *p.After
		}
		of := func(value int64, write func(int64) string) string {
			if p.After == nil {
				return format.None
			}
			return write(value)
		}
		t.Rows = append(t.Rows, []string{
			p.Name, format.MiB(p.Before.AnonBytes), ownMemory(peak), of(after.AnonBytes, format.MiB),
			descriptors(p.Before), count(peak.PeakOpenFiles), descriptors(after),
			format.Count(p.Before.Threads), count(peak.PeakThreads), of(after.Threads, format.Count),
			count(peak.VoluntarySwitches), count(peak.InvoluntarySwitches), count(sum(peak.MinorFaults, peak.MajorFaults)),
		})
		if after.Descriptors != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("Descriptors of %s after the load: %s.", p.Name, after.Descriptors.Words()))
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("After: %g s after the load. Wake-ups, preemptions and page faults are of the measured parts.", r.Held.AfterS))
	return t
}

func descriptors(held result.Holding) string {
	if held.Descriptors == nil {
		return format.None
	}
	return format.Count(held.Descriptors.All)
}

// sum is nil if one of the two is unknown.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
