// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"fmt"
)

// Process is the usage of a process during the load. CPUPercent is in percent of one core. PeakAnonBytes is resident
// memory without pages of files; older results lack it, and all fields after it but Exit. PeakOpenFiles is nil if
// unknown, too. PeakDescriptors are its kinds close to that moment; nil for other roles than system, and if unknown.
type Process struct {
	Name            string       `json:"name"`
	Role            string       `json:"role"`
	CPUS            float64      `json:"cpu_s"`
	CPUPercent      float64      `json:"cpu_percent"`
	PeakRSSBytes    int64        `json:"peak_rss_bytes"`
	PeakAnonBytes   *int64       `json:"peak_anon_bytes,omitempty"`
	PeakOpenFiles   *int64       `json:"peak_open_files,omitempty"`
	PeakDescriptors *Descriptors `json:"peak_descriptors,omitempty"`
	PeakThreads     *int64       `json:"peak_threads,omitempty"`
	// The context switches and page faults of the process's threads in the measured parts.
	VoluntarySwitches   *int64  `json:"voluntary_switches,omitempty"`
	InvoluntarySwitches *int64  `json:"involuntary_switches,omitempty"`
	MinorFaults         *int64  `json:"minor_faults,omitempty"`
	MajorFaults         *int64  `json:"major_faults,omitempty"`
	Exit                *string `json:"exit"`
}

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

// Rest is the usage of a process of the system while idle; nil if not sampled.
type Rest struct {
	Name   string  `json:"name"`
	Before *AtRest `json:"before"`
	After  *AtRest `json:"after"`
}

// AtRest is CPU in percent of one CPU, and how often the process's threads were woken per second.
type AtRest struct {
	CPUPercent    float64 `json:"cpu_percent"`
	WakeupsPerSec float64 `json:"wakeups_per_s"`
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
	// Number counts from 1.
	Number int `json:"number"`
	// Segment is its part of the load, in k6's notation: 0:1/2.
	Segment string `json:"segment"`
	// Share is its share of the sent requests, 0 to 1.
	Share *float64 `json:"share"`
	// CPUPercent is its process's CPU share during the load, in percent of one core.
	CPUPercent *float64 `json:"cpu_percent"`
	// LateMS is its lateness at P99 in ms, in its latest operation.
	LateMS *float64 `json:"late_ms"`
	// StartOffsetMS is the start of its load minus the common start; ClockOffsetMS is the coordinator's clock minus its
	// own.
	StartOffsetMS     *float64 `json:"start_offset_ms"`
	ClockOffsetMS     *float64 `json:"clock_offset_ms"`
	DroppedIterations float64  `json:"dropped_iterations"`
	// Record is its record file; nil if none arrived.
	Record *RecordFile `json:"record"`
	// OK says that its record counts, and that it kept up. Detail says why not.
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// RecordFile is a record: its name, its size, and its SHA-256 in hexadecimal.
type RecordFile struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}
