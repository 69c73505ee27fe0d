// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
)

// Limits are limits of CPU and memory: System has the limits that the run set for the system under test, nil without;
// Generator has the limits that others set for the generators, nil if unknown.
type Limits struct {
	System    *SystemLimits    `json:"system"`
	Generator *GeneratorLimits `json:"generator"`
}

// Throttled says how often a CPU quota stopped processes while something was measured.
type Throttled struct {
	Periods          int64   `json:"periods"`
	ThrottledPeriods int64   `json:"throttled_periods"`
	ThrottledS       float64 `json:"throttled_s"`
}

// SystemLimits are the limits of a run, and what they did. Text is the form of LIMITS. A nil limit means none; a nil
// effect is unknown, or has no limit.
type SystemLimits struct {
	Text        string `json:"text"`
	CPUPercent  *int64 `json:"cpu_percent"`
	MemoryBytes *int64 `json:"memory_bytes"`
	Throttled
	PeakMemoryBytes *int64 `json:"peak_memory_bytes"`
	Killed          *int64 `json:"killed"`
}

// GeneratorLimits are the lowest limits of the generators' control groups; nil without a limit.
type GeneratorLimits struct {
	CPUPercent  *float64 `json:"cpu_percent"`
	MemoryBytes *int64   `json:"memory_bytes"`
	Throttled
}

// Words says how often a quota stopped processes.
func (t Throttled) Words() string {
	return fmt.Sprintf("throttled in %d of %d periods, %.2f s", t.ThrottledPeriods, t.Periods, t.ThrottledS)
}

// Killing says how often the kernel killed a process for memory.
func (s SystemLimits) Killing() string {
	if s.Killed == nil {
		return "the number of processes that the kernel killed for memory is unknown"
	}
	return "killed for memory " + format.Plural(int(*s.Killed), "time")
}

// Sentence says in one line what a run's limits did; "" without limits.
func (l *Limits) Sentence() string {
	if l == nil || l.System == nil {
		return ""
	}
	s := l.System
	var parts []string
	if s.CPUPercent != nil {
		parts = append(parts, s.Words())
	}
	if s.PeakMemoryBytes != nil {
		parts = append(parts, "peak memory of the control group "+format.MiB(*s.PeakMemoryBytes)+" MiB")
	}
	if s.MemoryBytes != nil {
		parts = append(parts, s.Killing())
	}
	return fmt.Sprintf("Limits of the system, %s: %s", s.Text, strings.Join(parts, "; "))
}

// OfOthers are the limits that others set for the generators.
type OfOthers struct {
	CPUPercent  *float64 `json:"cpu_percent"`
	MemoryBytes *int64   `json:"memory_bytes"`
}

// OfOthers returns the limits that others set, nil if they were not recorded.
func (l *Limits) OfOthers() *OfOthers {
	if l == nil || l.Generator == nil {
		return nil
	}
	return &OfOthers{l.Generator.CPUPercent, l.Generator.MemoryBytes}
}
