// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"cmp"
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
)

// Limits are limits of CPU and memory.
type Limits struct {
	// LIMITS, which apply only to the processes of role system; null without LIMITS. Peak and kills count from the start of
	// each testbed, periods from the start of the measurement.
	System *SystemLimits `json:"system"`
	// The lowest limits that others set for k6 and the sidecar, such as a container's limits; null if unknown.
	Generator *GeneratorLimits `json:"generator"`
	// The lowest limits that others set only for the system, such as the limits of its container; null without such a
	// control group.
	Given *GivenLimits `json:"given,omitempty" jsonschema:"nullable"`
}

// Throttled says how often a CPU quota stopped processes while something was measured.
type Throttled struct {
	Periods          int64   `json:"periods" jsonschema:"minimum=0"`
	ThrottledPeriods int64   `json:"throttled_periods" jsonschema:"minimum=0"`
	ThrottledS       float64 `json:"throttled_s" jsonschema:"minimum=0"`
}

// SystemLimits are the limits of a run, and what they did. A nil limit means none.
type SystemLimits struct {
	Text string `json:"text"`
	// Percent of one CPU.
	CPUPercent  *int64 `json:"cpu_percent" jsonschema:"minimum=1"`
	MemoryBytes *int64 `json:"memory_bytes" jsonschema:"minimum=1"`
	Throttled
	// The control group's own memory and page cache; null if unknown, or without a limit of memory.
	PeakMemoryBytes *int64 `json:"peak_memory_bytes" jsonschema:"minimum=0"`
	// Processes that the kernel killed for memory; null if unknown, or without a limit of memory.
	Killed *int64 `json:"killed" jsonschema:"minimum=0"`
}

// GeneratorLimits are the lowest limits of the generators' control groups; nil without a limit.
type GeneratorLimits struct {
	// Percent of one CPU; null without a quota.
	CPUPercent  *float64 `json:"cpu_percent" jsonschema:"minimum=0"`
	MemoryBytes *int64   `json:"memory_bytes" jsonschema:"minimum=0"`
	Throttled
}

// GivenLimits are limits of others for the system, such as its container's.
type GivenLimits struct {
	GeneratorLimits
	// Processes that the kernel killed for memory since the measurement began. Absent if unknown, and without a limit of
	// memory.
	Killed *int64 `json:"killed,omitempty" jsonschema:"minimum=0"`
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
	// The requested link, such as far or rtt:100ms,rate:50mbit.
	Text string `json:"text" jsonschema:"minLength=1"`
	// The title of its file in links/; empty without a title.
	Title string `json:"title"`
	// The seed decides which packets are lost.
	Seed uint64 `json:"seed" jsonschema:"minimum=0"`
	// The largest packet, in bytes.
	MTU int `json:"mtu" jsonschema:"minimum=1280"`
	// The settings of each direction at the start.
	Settings LinkSettings `json:"settings"`
	Near     LinkEnd      `json:"near"`
	Far      LinkEnd      `json:"far"`
}

// LinkSettings has the settings of both directions: from near to far, and back.
type LinkSettings struct {
	// From near to far.
	Up LinkSide `json:"up"`
	// From far to near.
	Down LinkSide `json:"down"`
}

// LinkSide is one direction, with losses and other faults as shares (0 to 1).
type LinkSide struct {
	DelayNS int64 `json:"delay_ns" jsonschema:"minimum=0"`
	// The largest deviation in both directions, evenly distributed.
	JitterNS       int64 `json:"jitter_ns" jsonschema:"minimum=0"`
	JitterReorders bool  `json:"jitter_reorders"`
	// Bits of IP packets per second; null without a limit.
	RateBitS *int64 `json:"rate_bit_s" jsonschema:"minimum=1"`
	// The size of the queue: bytes, packets, or a multiple of rate × round trip (bdp).
	Queue LinkQueue `json:"queue"`
	Loss  float64   `json:"loss" jsonschema:"minimum=0,maximum=1"`
	// The mean length of a bad period, in packets.
	Burst       float64 `json:"burst" jsonschema:"minimum=1"`
	BurstLoss   float64 `json:"burst_loss" jsonschema:"minimum=0,maximum=1"`
	Reorder     float64 `json:"reorder" jsonschema:"minimum=0,maximum=1"`
	ReorderByNS int64   `json:"reorder_by_ns" jsonschema:"minimum=0"`
	Duplicate   float64 `json:"duplicate" jsonschema:"minimum=0,maximum=1"`
	Corrupt     float64 `json:"corrupt" jsonschema:"minimum=0,maximum=1"`
	Dead        bool    `json:"dead"`
}

// LinkQueue is the size of the queue; only one of its fields is set.
type LinkQueue struct {
	Bytes   *int64   `json:"bytes,omitempty" jsonschema:"minimum=0"`
	Packets *int64   `json:"packets,omitempty" jsonschema:"minimum=0"`
	BDP     *float64 `json:"bdp,omitempty" jsonschema:"minimum=0"`
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
