// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"fmt"
)

// Process is the usage of a process during the load. Older results lack the fields from PeakAnonBytes on, except Exit.
type Process struct {
	Name string `json:"name"`
	// The role total is the sum of all processes of role system; its peak is the sum of their peaks.
	Role string  `json:"role" jsonschema:"enum=system,enum=support,enum=generator,enum=total"`
	CPUS float64 `json:"cpu_s" jsonschema:"minimum=0"`
	// Percent of one core: 200 means two busy cores.
	CPUPercent   float64 `json:"cpu_percent" jsonschema:"minimum=0"`
	PeakRSSBytes int64   `json:"peak_rss_bytes" jsonschema:"minimum=0"`
	// Resident memory without pages of files; absent in older results.
	PeakAnonBytes *int64 `json:"peak_anon_bytes,omitempty" jsonschema:"minimum=0"`
	// The largest number of open descriptors. It is read every 100 ms; null if unknown.
	PeakOpenFiles *int64 `json:"peak_open_files,omitempty" jsonschema:"nullable,minimum=0"`
	// Descriptors by kind, close to that peak, for the role system. They are read at growth by a twentieth, for at most 1 %
	// of the time.
	PeakDescriptors *Descriptors `json:"peak_descriptors,omitempty" jsonschema:"nullable"`
	PeakThreads     *int64       `json:"peak_threads,omitempty" jsonschema:"minimum=0"`
	// How often its threads slept and were woken in the measured parts.
	VoluntarySwitches *int64 `json:"voluntary_switches,omitempty" jsonschema:"minimum=0"`
	// How often the scheduler took the CPU from a thread in the measured parts.
	InvoluntarySwitches *int64 `json:"involuntary_switches,omitempty" jsonschema:"minimum=0"`
	// Page faults without a read from a disk.
	MinorFaults *int64 `json:"minor_faults,omitempty" jsonschema:"minimum=0"`
	// Page faults with a read from a disk.
	MajorFaults *int64 `json:"major_faults,omitempty" jsonschema:"minimum=0"`
	// Null while the process lives, otherwise its end, such as `signal 9`.
	Exit *string `json:"exit"`
}

// WindowCPU is the CPU time of the system from the first start of the load to the end of a quiet period after it. It
// includes work between measured parts, and work deferred until after the load.
type WindowCPU struct {
	// The time from the first start of the load to the end of the quiet period, without discarded parts.
	WindowS float64 `json:"window_s" jsonschema:"minimum=0"`
	// Length of the quiet period, which the profile sets.
	QuietS float64 `json:"quiet_s" jsonschema:"minimum=0"`
	// CPU time of all processes of role system in the whole window, including the time between parts and the quiet period.
	SystemS float64 `json:"system_s" jsonschema:"minimum=0"`
	// The part of system_s in the quiet period.
	QuietSystemS float64 `json:"quiet_system_s" jsonschema:"minimum=0"`
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

// Rest is the usage of a process of the system while idle.
type Rest struct {
	Name string `json:"name"`
	// Null if not sampled.
	Before *AtRest `json:"before"`
	// Null if not sampled.
	After *AtRest `json:"after"`
}

// AtRest is the usage of an idle process.
type AtRest struct {
	// Percent of one CPU.
	CPUPercent float64 `json:"cpu_percent" jsonschema:"minimum=0"`
	// How often its threads were woken: voluntary context switches (proc(5)).
	WakeupsPerSec float64 `json:"wakeups_per_s" jsonschema:"minimum=0"`
}

// AtRestAfter is the sum over all processes after the load, nil if not sampled.
func (r Result) AtRestAfter() *AtRest {
	var all *AtRest
	for _, p := range r.Rest {
		if p.After == nil {
			continue
		}
		if all == nil {
			all = &AtRest{}
		}
		all.CPUPercent += p.After.CPUPercent
		all.WakeupsPerSec += p.After.WakeupsPerSec
	}
	return all
}

// Runner is one of several k6 processes of a run. Unknown values are nil.
type Runner struct {
	// From 1; 0 if the record lacks the number.
	Number int `json:"number" jsonschema:"minimum=0"`
	// The runner's part of the load in k6's notation, such as 0:1/2; empty if unknown.
	Segment string `json:"segment"`
	// Share of the sent requests.
	Share *float64 `json:"share" jsonschema:"minimum=0,maximum=1"`
	// Percent of one core during the load; null if not sampled.
	CPUPercent *float64 `json:"cpu_percent" jsonschema:"minimum=0"`
	// Lateness at P99 in the latest operation; null if no operation has it.
	LateMS *float64 `json:"late_ms"`
	// The start of the runner's load minus the common start.
	StartOffsetMS *float64 `json:"start_offset_ms"`
	// The coordinator's clock minus the runner's clock.
	ClockOffsetMS     *float64 `json:"clock_offset_ms"`
	DroppedIterations float64  `json:"dropped_iterations" jsonschema:"minimum=0"`
	// The record of the runner (docs/reference/record.md); null if none arrived.
	Record *RecordFile `json:"record"`
	// Whether the record counts, and the runner kept up.
	OK bool `json:"ok"`
	// Why not.
	Detail string `json:"detail"`
}

// RecordFile is a record: its name, its size, and its SHA-256 in hexadecimal.
type RecordFile struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes" jsonschema:"minimum=0"`
	// In hexadecimal; empty if the file could not be read.
	SHA256 string `json:"sha256"`
}
