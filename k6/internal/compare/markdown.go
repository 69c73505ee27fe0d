// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/result"
)

// Markdown writes a comparison as the reference document's table of changes.
func (c Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# B against A: %s\n\n", markdown.Escape(c.name()))
	c.write(&b, "##")
	b.WriteString("## How to read this\n\n")
	markdown.List(&b, append(c.legend(), c.notes()...))
	c.writeSame(&b, "##")
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (c Comparison) name() string { return c.System + "/" + c.Scenario }

// write writes the verdict and the tables of metrics; heading is of what lies beneath.
func (c Comparison) write(b *strings.Builder, heading string) {
	fmt.Fprintf(b, "**Verdict: %s** — %s\n\n", mark(c.word()), markdown.Escape(c.headline()))
	markdown.List(b, c.Reasons)
	markdown.Table(b, []string{"", "A", "B"}, c.sides(), noNumbers)
	var judged, where, controls [][]string
	for _, m := range c.Metrics {
		switch {
		case m.Control:
			controls = append(controls, m.row())
		case m.evidence:
			where = append(where, m.row())
		default:
			judged = append(judged, m.row())
		}
	}
	head := []string{"Metric", "A", "B", "change", "95 % CI", "p", "judgement"}
	markdown.Table(b, head, judged, lastIsText)
	if len(where)+len(c.bottlenecks) > 0 {
		fmt.Fprintf(b, "%s Where the time went: evidence, which breaks no gate\n\n", heading)
		markdown.Table(b, head, where, lastIsText)
		markdown.List(b, c.bottlenecks)
	}
	if len(controls) > 0 {
		fmt.Fprintf(b, "%s Controls: the same without the proxy, not judged\n\n", heading)
		markdown.Table(b, head, controls, lastIsText)
	}
}

// Which columns of a table hold numbers.
func noNumbers(int) bool         { return false }
func lastIsText(column int) bool { return column >= 1 && column <= 5 }

// notes are the comparison's, then those of its metrics.
func (c Comparison) notes() []string {
	notes := slices.Clone(c.Notes)
	for _, m := range c.Metrics {
		for _, note := range m.Notes {
			notes = append(notes, m.Title+": "+note)
		}
	}
	return notes
}

func (c Comparison) writeSame(b *strings.Builder, heading string) {
	fmt.Fprintf(b, "%s What was the same\n\n", heading)
	markdown.Table(b, []string{"Parameter", "Value"}, c.same(), noNumbers)
}

// word is the verdict, or that there was an interrupt.
func (c Comparison) word() string {
	if c.Interrupted {
		return "interrupted"
	}
	return c.Verdict
}

func mark(word string) string {
	return map[string]string{Pass: "✓ ", Fail: "✗ "}[word] + word
}

func (c Comparison) headline() string {
	if counts := c.counts(); counts != "" {
		return "of the metrics: " + counts
	}
	return nothing
}

const nothing = "nothing could be compared"

// counts is such as `3 better, 1 worse`, "" without a metric.
func (c Comparison) counts() string {
	counts := map[string]int{}
	for _, m := range c.Metrics {
		if !m.Control && !m.evidence {
			counts[m.Judgement]++
		}
	}
	var parts []string
	for _, word := range []string{Better, Worse, NoneFound, NotJudged} {
		if n := counts[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

// sides has a row for each thing in which A and B may differ.
func (c Comparison) sides() [][]string {
	table := [][]string{}
	add := func(name string, of func(Side) string) {
		a, b := of(c.A), of(c.B)
		if a != "" || b != "" {
			table = append(table, []string{name, orDash(a), orDash(b)})
		}
	}
	add("Given", func(s Side) string { return s.Spec })
	add("Testbed", func(s Side) string {
		if s.Testbed == nil {
			return ""
		}
		return s.Testbed.Name
	})
	add("Variables", func(s Side) string {
		if s.Testbed == nil {
			return ""
		}
		return list(s.Testbed.Variables)
	})
	add("Versions", func(s Side) string { return list(s.Versions) })
	add("Runs", func(s Side) string {
		used := 0
		for _, r := range s.Runs {
			if r.Used {
				used++
			}
		}
		return fmt.Sprintf("%d of %d used", used, len(s.Runs))
	})
	return table
}

func list[V any](values map[string]V) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+"="+format.Any(values[name]))
	}
	return strings.Join(parts, ", ")
}

func (m Metric) row() []string {
	title := m.Title
	if unit := units[m.Unit]; unit != "" {
		title += " (" + unit + ")"
	}
	return append([]string{title, m.summary(m.A), m.summary(m.B)}, m.difference()...)
}

// difference is the change, its interval, p and the judgement.
func (m Metric) difference() []string {
	p := format.None
	if m.P != nil {
		p = strconv.FormatFloat(*m.P, 'f', 3, 64)
		if *m.P < 0.001 {
			p = "<0.001"
		}
	}
	judgement := m.Judgement
	if m.Gate {
		judgement += " (gate)"
	}
	return []string{changeText(m.Change), interval(m.Change), p, judgement}
}

// summary is `median (lo–hi)`, the median alone where there are too few runs for an interval.
func (m Metric) summary(s Summary) string {
	median := write(s.Median, m.Unit)
	if s.Lo == nil || s.Hi == nil {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, write(*s.Lo, m.Unit), write(*s.Hi, m.Unit))
}

var units = map[string]string{"ms": "ms", "per_s": "/s", "mbit_per_s": "Mbit/s", "bytes": "MiB", "s": "s", "us": "µs"}

func write(v float64, unit string) string {
	switch unit {
	case "mbit_per_s":
		return format.Mbit(&v)
	case "per_s":
		return format.Rate(&v)
	case "share":
		return format.Share(&v)
	case "bytes":
		return format.MiB(int64(v))
	case "s":
		if v < 1 {
			return strconv.FormatFloat(v, 'f', 3, 64)
		}
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return format.MS(&v)
}

func changeText(c *Change) string {
	if c == nil {
		return format.None
	}
	return percent(c.Median, c.Unit)
}

func interval(c *Change) string {
	if c == nil || c.Lo == nil || c.Hi == nil {
		return format.None
	}
	return percent(*c.Lo, c.Unit) + " to " + percent(*c.Hi, c.Unit)
}

func percent(v float64, unit string) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	switch {
	case strings.Trim(text, "-0.") == "":
		text = "0.00"
	case v > 0:
		text = "+" + text
	}
	if unit == "points" {
		return text + " pp"
	}
	return text + "%"
}

// legend says how the numbers are made.
func (c Comparison) legend() []string {
	change := "change: the median of the changes of the pairs, with its confidence interval"
	if !c.Interleaved {
		change = "change: between the medians; its confidence interval is from those of both sides and wider than it need be"
	}
	return []string{
		"A, B: medians of the runs, with their 95 % confidence interval where there are enough runs",
		change + "; pp: percentage points, for shares",
		"p: of the Mann-Whitney U test; better and worse are said where p is below 0.05 and the interval of the change lies on one side of 0",
		fmt.Sprintf("gate: a metric that is worse by more than %g %% (shares: %g points) fails the comparison",
			c.WorseByPercent, c.WorseByPercent*sharePoints),
	}
}

func (c Comparison) same() [][]string {
	table := [][]string{{"Profile", c.Profile}, {"Windtunnel", orDash(c.Windtunnel)}}
	if p := c.Placement; p != nil {
		table = append(table, []string{"Placement", placementText(*p)})
	}
	if h := c.Host; h != nil {
		table = append(table, []string{"Host", fmt.Sprintf("%s, %d CPUs, %s, %s %s", h.CPUModel, h.CPUs, format.GiB(h.MemoryBytes), h.OS, h.Kernel)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		table = append(table, []string{strings.ReplaceAll(name, "_", " "), format.Any(c.Parameters[name])})
	}
	return table
}

func placementText(p result.Placement) string {
	return fmt.Sprintf("%s: probe CPU %s, echo CPU %s, system CPU %s, wait %s", p.Name, orDash(p.ProbeCPUs),
		orDash(p.EchoCPUs), orDash(p.SystemCPUs), p.Wait)
}
