// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
)

// LeftOpen is the check of what the system left open. Its name begins the reason.
const LeftOpen = "left open"

// IsBroken reports whether a check failed, and no known fault explains it.
func (i Integrity) IsBroken() bool { return i.OK != nil && !*i.OK && i.Known == "" }

// HeldByRow is what an instance that the scenario started held, such as both ends of a row, and the versions of its
// programs.
type HeldByRow struct {
	Name     string            `json:"name"`
	Versions map[string]string `json:"versions" jsonschema:"nullable"`
	// The reason why leftovers do not count, such as "over a link".
	Unjudged string `json:"unjudged,omitempty"`
	Held     Held   `json:"held"`
}

// Held is what the system held before the load and after it.
type Held struct {
	// Time from the end of the load to the second reading, which ends when nothing exceeds the slack. The longest time is
	// 5 s, or the quiet period if that is longer.
	AfterS float64 `json:"after_s" jsonschema:"minimum=0"`
	// How many more TCP connections, and other descriptors, a process may have than before.
	Slack     int64       `json:"slack" jsonschema:"minimum=0"`
	Processes []HeldByOne `json:"processes" jsonschema:"nullable"`
}

// HeldByOne is what a process of the system held, with its descendants.
type HeldByOne struct {
	Name string `json:"name"`
	// Null if the process had ended.
	Before Holding `json:"before" jsonschema:"nullable"`
	// Peaks of all instances of a row while probes measured; only in held_by_rows. An absent figure is unknown.
	Peak Peaks `json:"peak,omitzero"`
	// Null if the process had ended.
	After *Holding `json:"after"`
}

// Peaks are the largest values of a process.
type Peaks struct {
	AnonBytes *int64 `json:"peak_anon_bytes,omitempty" jsonschema:"minimum=0"`
	OpenFiles *int64 `json:"peak_open_files,omitempty" jsonschema:"minimum=0"`
	Threads   *int64 `json:"peak_threads,omitempty" jsonschema:"minimum=0"`
}

// Holding is what a process holds at one moment.
type Holding struct {
	// Own memory: resident memory without pages of files, plus swapped memory.
	AnonBytes int64 `json:"anon_bytes" jsonschema:"minimum=0"`
	Threads   int64 `json:"threads" jsonschema:"minimum=0"`
	// Null if unknown.
	Descriptors *Descriptors `json:"descriptors"`
}

// Descriptors are open descriptors by kind.
type Descriptors struct {
	All int64 `json:"all" jsonschema:"minimum=0"`
	// TCP sockets by state.
	TCP map[string]int64 `json:"tcp"`
	// TCP connections whose other end is closed, or is a far end of Windtunnel: only the process keeps them open.
	Left  int64 `json:"left" jsonschema:"minimum=0"`
	UDP   int64 `json:"udp" jsonschema:"minimum=0"`
	Pipes int64 `json:"pipes" jsonschema:"minimum=0"`
	// Files, other sockets, and descriptors that the kernel makes.
	Other int64 `json:"other" jsonschema:"minimum=0"`
}

// closeWait is the state of a TCP connection that the other end has closed.
const closeWait = "close_wait"

// Left is how many TCP connections and other descriptors, without UDP and pipes, a process has more than before the load.
// A proxy may keep a UDP association for minutes, with its control connection. So for each UDP socket one connection does not count
// whose client has closed it. A connection to a far end always counts.
// known is false if a reading is unknown.
func (p HeldByOne) Left() (tcp, other int64, known bool) {
	if p.After == nil || p.After.Descriptors == nil || p.Before.Descriptors == nil {
		return 0, 0, p.After == nil
	}
	before, after := p.Before.Descriptors, p.After.Descriptors
	controls := max(0, min(after.UDP-before.UDP, after.TCP[closeWait]-before.TCP[closeWait]))
	return max(0, after.Left-before.Left-controls), max(0, after.Other-before.Other), true
}

// Words are the descriptors by kind, the most frequent state first, such as "1,212: 1,200 TCP close_wait, 12 other".
func (d Descriptors) Words() string {
	states := slices.SortedFunc(maps.Keys(d.TCP), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.TCP[b], d.TCP[a]), cmp.Compare(a, b))
	})
	var kinds []string
	add := func(count int64, kind string) {
		if count > 0 {
			kinds = append(kinds, format.Count(count)+" "+kind)
		}
	}
	for _, state := range states {
		add(d.TCP[state], "TCP "+state)
	}
	add(d.UDP, "UDP")
	add(d.Pipes, "pipes")
	add(d.Other, "other")
	return format.Count(d.All) + ": " + strings.Join(kinds, ", ")
}

// Beyond is the number of descriptors of all kinds that came in the load, stayed, and exceed the slack of their process; nil
// if unknown.
func (h *Held) Beyond() *float64 {
	if h == nil {
		return nil
	}
	sum := 0.0
	for _, p := range h.Processes {
		if p.After == nil || p.After.Descriptors == nil || p.Before.Descriptors == nil {
			return nil
		}
		sum += float64(max(0, p.After.Descriptors.All-p.Before.Descriptors.All-h.Slack))
	}
	return &sum
}

// Grown is the own memory in bytes that came in the load and stayed, of all processes; nil if unknown.
func (h *Held) Grown() *float64 {
	if h == nil {
		return nil
	}
	sum := 0.0
	for _, p := range h.Processes {
		if p.After == nil {
			return nil
		}
		sum += float64(max(0, p.After.AnonBytes-p.Before.AnonBytes))
	}
	return &sum
}

// A process is remarked if it has more than these bytes beyond what it had before the load, and at least this multiple.
const (
	remarkedBytes = 32 << 20
	remarkedTimes = 2
)

// uncountedMost is the number of new descriptors outside of Left that need no remark.
const uncountedMost = 100

// Uncounted names the processes with many descriptors that came in the load, stayed, and are outside of Left: UDP sockets, pipes, and
// connections between two processes of the system; "" without one. They decide nothing: a hop may keep its connections for later tunnels.
func (h *Held) Uncounted() string {
	if h == nil {
		return ""
	}
	var kept []string
	for _, p := range h.Processes {
		tcp, other, known := p.Left()
		if !known || p.After == nil {
			continue
		}
		if more := p.After.Descriptors.All - p.Before.Descriptors.All - tcp - other; more >= uncountedMost {
			kept = append(kept, fmt.Sprintf("%s keeps %s more (%s)", p.Name, format.Count(more), p.After.Descriptors.Words()))
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return fmt.Sprintf("UDP sockets, pipes and connections between the system's own processes decide nothing, but %g s after the load %s",
		h.AfterS, strings.Join(kept, "; "))
}

// Remark names the processes that keep much more own memory than before the load; "" without one. It decides nothing: after one
// load, what an allocator has taken once and a leak look alike.
func (h *Held) Remark() string {
	if h == nil {
		return ""
	}
	var kept []string
	for _, p := range h.Processes {
		if p.After == nil || p.After.AnonBytes-p.Before.AnonBytes <= remarkedBytes || p.After.AnonBytes < remarkedTimes*p.Before.AnonBytes {
			continue
		}
		kept = append(kept, fmt.Sprintf("%s has %s MiB and had %s MiB before", p.Name, format.MiB(p.After.AnonBytes), format.MiB(p.Before.AnonBytes)))
	}
	if len(kept) == 0 {
		return ""
	}
	return fmt.Sprintf("memory kept %g s after the load: %s; one load cannot tell a step from a leak: footprint/leak can", h.AfterS, strings.Join(kept, "; "))
}

// Text is one line about all processes; "" if unknown.
func (h *Held) Text() string {
	if h == nil {
		return ""
	}
	var before, after, memoryBefore, memoryAfter int64
	for _, p := range h.Processes {
		if p.After == nil || p.After.Descriptors == nil || p.Before.Descriptors == nil {
			return ""
		}
		before, after = before+p.Before.Descriptors.All, after+p.After.Descriptors.All
		memoryBefore, memoryAfter = memoryBefore+p.Before.AnonBytes, memoryAfter+p.After.AnonBytes
	}
	return fmt.Sprintf("the system held %s descriptors and %s MiB before the load, and %s and %s MiB %g s after it",
		format.Count(before), format.MiB(memoryBefore), format.Count(after), format.MiB(memoryAfter), h.AfterS)
}
