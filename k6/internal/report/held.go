// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
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
	add := func(name string, p result.HeldByOne, peak result.Process) {
		t.Rows = append(t.Rows, []string{
			name, memory(p.Before), orNone(peak.PeakAnonBytes, format.MiB), orNone(p.After, memory),
			descriptors(p.Before), count(peak.PeakOpenFiles), orNone(p.After, descriptors),
			threads(p.Before), count(peak.PeakThreads), orNone(p.After, threads),
			count(peak.VoluntarySwitches), count(peak.InvoluntarySwitches), count(sum(peak.MinorFaults, peak.MajorFaults)),
		})
	}
	longest, unjudged := 0.0, ""
	for _, row := range r.Rows {
		for _, p := range row.Held.Processes {
			add(row.Name+": "+p.Name, p, result.Process{PeakAnonBytes: p.Peak.AnonBytes, PeakOpenFiles: p.Peak.OpenFiles, PeakThreads: p.Peak.Threads})
		}
		longest = max(longest, row.Held.AfterS)
		if row.Unjudged != "" {
			unjudged = fmt.Sprintf(" What is left %s is not judged.", row.Unjudged)
		}
	}
	if len(t.Rows) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("After: at most %g s after each load, of the slowest instance of a name. Peak: of all of them.%s", longest, unjudged))
	}
	if r.Held == nil {
		return t
	}
	for _, p := range r.Held.Processes {
		peak, _ := seq.Find(r.Processes, func(one result.Process) bool { return one.Name == p.Name })
		add(p.Name, p, peak)
		note := func(when string, open *result.Descriptors) {
			if open != nil {
				t.Notes = append(t.Notes, fmt.Sprintf("Descriptors of %s %s: %s.", p.Name, when, open.Words()))
			}
		}
		note("close to the peak", peak.PeakDescriptors)
		if p.After != nil {
			note("after the load", p.After.Descriptors)
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("After: %g s after the load. Wake-ups, preemptions and page faults are of the measured parts.", r.Held.AfterS))
	return t
}

func memory(held result.Holding) string  { return format.MiB(held.AnonBytes) }
func threads(held result.Holding) string { return format.Count(held.Threads) }

func descriptors(held result.Holding) string {
	return orNone(held.Descriptors, func(open result.Descriptors) string { return format.Count(open.All) })
}

func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// busyAtRest is the CPU share (percent of one CPU) above which an idle process is reported: programs on the same CPU
// lose that time.
const busyAtRest = 20.0

func restTable(r result.Result) Table {
	t := Table{Title: "At rest", Head: []string{"Process", "CPU before (%)", "Wake-ups before (/s)", "CPU after (%)", "Wake-ups after (/s)"}, Numbers: from(1), State: -1}
	var busy []string
	for _, p := range r.Rest {
		cells := []string{p.Name}
		for _, at := range []*result.AtRest{p.Before, p.After} {
			if at == nil {
				cells = append(cells, format.None, format.None)
				continue
			}
			cells = append(cells, fmt.Sprintf("%.1f", at.CPUPercent), fmt.Sprintf("%.0f", at.WakeupsPerSec))
			if at.CPUPercent >= busyAtRest && (len(busy) == 0 || busy[len(busy)-1] != p.Name) {
				busy = append(busy, p.Name)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(t.Rows) == 0 {
		return t
	}
	t.Notes = append(t.Notes, "Sampled while idle, before and after the load. CPU is percent of one CPU; wake-ups count how often threads slept and woke. The values after the load include work that the system still had to finish.")
	if len(busy) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s uses %.0f %% of a CPU or more while idle. Programs on the same CPU lose that time, and so does the control.", strings.Join(busy, ", "), busyAtRest))
	}
	return t
}
