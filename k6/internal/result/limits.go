// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"cmp"
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
)

// Limits are limits of CPU and memory. System has the limits that the run set for the system under test, nil without.
// Generator has the limits that others set for the generators, nil if unknown. Given has limits of others for
// the system alone, nil without.
type Limits struct {
	System    *SystemLimits    `json:"system"`
	Generator *GeneratorLimits `json:"generator"`
	Given     *GivenLimits     `json:"given,omitempty"`
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

// GivenLimits are limits of others for the system, such as its container's. Killed is nil without a limit of memory, and if unknown.
type GivenLimits struct {
	GeneratorLimits
	Killed *int64 `json:"killed,omitempty"`
}

// Remark says what limits of others did to the system; "" without such limits.
func (l *Limits) Remark() string {
	if l == nil || l.Given == nil {
		return ""
	}
	g := l.Given
	var parts []string
	if g.CPUPercent != nil || g.ThrottledPeriods > 0 {
		parts = append(parts, g.Quota()+": "+g.Words())
	}
	if g.MemoryBytes != nil {
		parts = append(parts, fmt.Sprintf("%s MiB of memory: %s", format.MiB(*g.MemoryBytes), killing(g.Killed)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "the system has limits from outside, such as a container's: " + strings.Join(parts, "; ")
}

// IsWorse reports more kills, or more throttled periods with equal kills.
func (g GivenLimits) IsWorse(than GivenLimits) bool {
	kills := func(one GivenLimits) int64 {
		if one.Killed == nil {
			return 0
		}
		return *one.Killed
	}
	return cmp.Or(cmp.Compare(kills(g), kills(than)), cmp.Compare(g.ThrottledPeriods, than.ThrottledPeriods)) > 0
}

// Quota is the CPU quota in words.
func (g GeneratorLimits) Quota() string {
	if g.CPUPercent == nil {
		return "a quota that has ended"
	}
	return fmt.Sprintf("a quota of %g %% of one CPU", *g.CPUPercent)
}

// Words says how often a quota stopped processes.
func (t Throttled) Words() string {
	return fmt.Sprintf("throttled in %d of %d periods, %.2f s", t.ThrottledPeriods, t.Periods, t.ThrottledS)
}

// Killing says how often the kernel killed a process for memory.
func (s SystemLimits) Killing() string { return killing(s.Killed) }

func killing(times *int64) string {
	if times == nil {
		return "the number of processes that the kernel killed for memory is unknown"
	}
	return "killed for memory " + format.Plural(int(*times), "time")
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

// OfOthers are the limits that others set for the generators, and for the system alone.
type OfOthers struct {
	CPUPercent        *float64 `json:"cpu_percent"`
	MemoryBytes       *int64   `json:"memory_bytes"`
	SystemCPUPercent  *float64 `json:"system_cpu_percent,omitempty"`
	SystemMemoryBytes *int64   `json:"system_memory_bytes,omitempty"`
}

// OfOthers returns the limits that others set, nil if they were not recorded.
func (l *Limits) OfOthers() *OfOthers {
	if l == nil || l.Generator == nil {
		return nil
	}
	all := OfOthers{CPUPercent: l.Generator.CPUPercent, MemoryBytes: l.Generator.MemoryBytes}
	if l.Given != nil {
		all.SystemCPUPercent, all.SystemMemoryBytes = l.Given.CPUPercent, l.Given.MemoryBytes
	}
	return &all
}

// Link is the link between the two ends of each pair: docs/explanation/link.md.
type Link struct {
	// Text is the requested link as given; Title is the title of its file, "" without a title.
	Text  string `json:"text"`
	Title string `json:"title"`
	Seed  uint64 `json:"seed"`
	MTU   int    `json:"mtu"`
	// Settings are the settings of each direction at the start.
	Settings LinkSettings `json:"settings"`
	Near     LinkEnd      `json:"near"`
	Far      LinkEnd      `json:"far"`
}

// LinkSettings has the settings of both directions: from near to far, and back.
type LinkSettings struct {
	Up   LinkSide `json:"up"`
	Down LinkSide `json:"down"`
}

// LinkSide is one direction. Loss, BurstLoss, Reorder, Duplicate and Corrupt are shares (0 to 1), Burst is a number of
// packets. RateBitS is nil without a rate limit.
type LinkSide struct {
	DelayNS        int64     `json:"delay_ns"`
	JitterNS       int64     `json:"jitter_ns"`
	JitterReorders bool      `json:"jitter_reorders"`
	RateBitS       *int64    `json:"rate_bit_s"`
	Queue          LinkQueue `json:"queue"`
	Loss           float64   `json:"loss"`
	Burst          float64   `json:"burst"`
	BurstLoss      float64   `json:"burst_loss"`
	Reorder        float64   `json:"reorder"`
	ReorderByNS    int64     `json:"reorder_by_ns"`
	Duplicate      float64   `json:"duplicate"`
	Corrupt        float64   `json:"corrupt"`
	Dead           bool      `json:"dead"`
}

// LinkQueue is the size of the queue; only one of its fields is set.
type LinkQueue struct {
	Bytes   *int64   `json:"bytes,omitempty"`
	Packets *int64   `json:"packets,omitempty"`
	BDP     *float64 `json:"bdp,omitempty"`
}

// LinkEnd is a network namespace. Settings are its kernel settings at the start.
type LinkEnd struct {
	Namespace string          `json:"namespace"`
	Address   string          `json:"address"`
	Settings  NetworkSettings `json:"settings"`
}

// Words is the name of the link.
func (l *Link) Words() string {
	if l == nil {
		return ""
	}
	words := l.Text
	if l.Title != "" {
		words += " (" + l.Title + ")"
	}
	return fmt.Sprintf("%s, seed %d", words, l.Seed)
}
