// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// Markdown writes a comparison as the reference document's table of changes.
func (c Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# B against A: %s\n\n", markdown.Escape(c.name()))
	c.write(&b, "##")
	b.WriteString("## How to read this\n\n")
	markdown.List(&b, c.legend())
	writeBlocks(&b, "##", c.details())
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (c Comparison) name() string { return c.System + "/" + c.Scenario }

// write writes the verdict and the tables of metrics. heading is the level of the headings.
func (c Comparison) write(b *strings.Builder, heading string) {
	fmt.Fprintf(b, "%s.\n\n**Verdict: %s** — %s\n\n", markdown.Escape(c.Headline), mark(c.word())+c.secondaryOff(), markdown.Escape(cmp.Or(c.counts(), nothing)))
	markdown.List(b, c.Reasons)
	writeBlocks(b, heading, c.tables())
}

// block is a part of a page: a table with lines below it, or only lines.
type block struct {
	title   string
	head    []string
	rows    [][]string
	numbers func(column int) bool
	lines   []string
}

func writeBlocks(b *strings.Builder, heading string, blocks []block) {
	for _, one := range blocks {
		if one.isEmpty() {
			continue
		}
		if one.title != "" {
			fmt.Fprintf(b, "%s %s\n\n", heading, one.title)
		}
		markdown.Table(b, one.head, one.rows, one.numbers)
		markdown.List(b, one.lines)
	}
}

func (b block) isEmpty() bool { return len(b.rows)+len(b.lines) == 0 }

// tables are the sides, and the metrics by their role.
func (c Comparison) tables() []block {
	var judged, where, controls [][]string
	for _, m := range c.Metrics {
		switch {
		case m.Control:
			controls = append(controls, m.row())
		case m.Role == Shown:
			where = append(where, m.row())
		default:
			judged = append(judged, m.row())
		}
	}
	head := c.head()
	return []block{
		{"", []string{"", "A", "B"}, c.sides(), noNumbers, nil},
		{"", head, judged, lastIsText, nil},
		{"Failures", []string{"Kind", "A", "B", "p", "judgement"}, c.failureRows(), func(column int) bool { return column >= 1 && column <= 3 }, nil},
		{"Where the time went, and other figures that decide nothing", head, where, lastIsText, c.answers},
		{"Controls: the same without the proxy, not judged", head, controls, lastIsText, nil},
	}
}

// details are the notes, and the parameters of both sides.
func (c Comparison) details() []block {
	return []block{
		{title: "Notes", lines: c.notes()},
		{"What was the same", []string{"Parameter", "Value"}, c.same(), noNumbers, nil},
	}
}

// These functions say which columns of a table hold numbers.
func noNumbers(int) bool         { return false }
func lastIsText(column int) bool { return column >= 1 && column <= 5 }

// notes returns the notes of the comparison, then those of its metrics.
func (c Comparison) notes() []string {
	notes := slices.Clone(c.Notes)
	for _, m := range c.Metrics {
		for _, note := range m.Notes {
			notes = append(notes, m.Title+": "+note)
		}
	}
	return notes
}

func (c Comparison) head() []string {
	return []string{"Metric", "A", "B", "change", confidenceText(c.Confidence) + " % interval", "p", "judgement"}
}

// word is the verdict, or a word for an interrupted comparison.
func (c Comparison) word() string {
	if c.Interrupted {
		return "interrupted"
	}
	return c.Verdict
}

func mark(word string) string {
	return map[string]string{Pass: "✓ ", Fail: "✗ "}[word] + word
}

const nothing = "nothing could be compared"

// counts is such as `3 better, 1 worse`, "" without a metric.
func (c Comparison) counts() string {
	counts := map[string]int{}
	for _, m := range c.Metrics {
		if m.Role != Shown {
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

// sides returns a row for each property in which A and B may differ.
func (c Comparison) sides() [][]string {
	table := [][]string{}
	add := func(name string, of func(Side) string) {
		a, b := of(c.A), of(c.B)
		if a != "" || b != "" {
			table = append(table, []string{name, cmp.Or(a, format.None), cmp.Or(b, format.None)})
		}
	}
	add("Given", func(s Side) string { return s.Spec })
	add("Build", func(s Side) string {
		if s.Build == nil {
			return ""
		}
		return s.Build.String()
	})
	add("SHA-256", func(s Side) string { return s.Contents.String() })
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
		used := seq.Count(s.Runs, func(r SideRun) bool { return r.Used })
		return fmt.Sprintf("%d of %d used", used, len(s.Runs))
	})
	return table
}

func list[V any](values map[string]V) string {
	parts := seq.Map(slices.Sorted(maps.Keys(values)), func(name string) string { return name + "=" + format.Any(values[name]) })
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
		p = pText(*m.P)
	}
	return []string{changeText(m.Change), interval(m.Change), p, m.says()}
}

// says is the judgement, with the outcome against the bound.
func (m Metric) says() string {
	switch {
	case m.Outcome == "":
		return m.Judgement
	case m.Gate:
		return m.Judgement + ", beyond the bound"
	case m.Role == Primary:
		return m.Judgement + ", " + m.Outcome + " (primary)"
	}
	return m.Judgement
}

// summary is a side's median.
func (m Metric) summary(s Summary) string { return write(s.Median, m.Unit) }

func (c Comparison) failureRows() [][]string {
	return seq.Map(c.Failures, Failure.row)
}

func (f Failure) row() []string {
	p := format.None
	if f.P != nil {
		p = pText(*f.P)
	}
	says := map[string]string{"within": "B fails no more", "beyond": "B fails more, beyond the bound", "unclear": "B fails more, maybe by chance: no pass"}
	return []string{f.Kind, f.A.text(f.Of), f.B.text(f.Of), p, says[f.Outcome]}
}

var units = map[string]string{"ms": "ms", "per_s": "/s", "mbit_per_s": "Mbit/s", "bytes": "MiB", "s": "s", "us": "µs", "KiB": "KiB", "MiB": "MiB", "/s": "/s", bytesEach: "B each", countEach: "each"}

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
	case "count":
		return format.Count(int64(v))
	case bytesEach, countEach:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case "s":
		if v < 1 {
			return strconv.FormatFloat(v, 'f', 3, 64)
		}
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return format.MS(&v)
}

func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

func changeText(c *Change) string {
	if c == nil {
		return format.None
	}
	return percent(c.Estimate, c.Unit)
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
	switch unit {
	case "points":
		return text + " pp"
	case bytesEach, countEach:
		return text + " " + units[unit]
	}
	return text + "%"
}

func (c Comparison) legend() []string {
	change := "change: the Hodges-Lehmann estimate of the pairs' changes, with the exact interval of the signed-rank test; p is the two-sided p-value of that test"
	switch {
	case c.kept:
		change = "change: the run against the mean of the kept runs, with the prediction interval for one more of those runs (Student's, of the logarithms), wider by the possible change of the machine; p is from the same distribution"
	case !c.Interleaved:
		change = "change: the Hodges-Lehmann estimate of all runs of B against all runs of A, with the exact interval of the rank-sum test, wider by the possible change of the machine; p is the p-value of that test"
	}
	looks := ""
	if c.Looks > 0 {
		looks = fmt.Sprintf("; this was look %d at the pairs, and the interval allows for repeated looks", c.Looks)
	}
	medians := "A, B: medians of the runs"
	if slices.ContainsFunc(c.Metrics, func(m Metric) bool { return strings.Contains(m.Title, atLeast) }) {
		medians += "; of a metric whose name ends with" + atLeast + "N, a smaller value counts as N, because it harms nobody, and N is shown"
	}
	return []string{
		medians,
		change + looks + "; pp: percentage points, for shares",
		"better, worse: the interval excludes 0, without a correction for the number of metrics; this decides nothing",
		fmt.Sprintf("within: the whole interval is less than %g %% worse (%g times the time, memory or CPU; of a rate 1/%g of it; of shares %g points); "+
			"beyond: the estimate is worse than that, and significantly worse with all metrics counted; unclear: neither",
			c.WorseByPercent, 1+c.WorseByPercent/100, 1+c.WorseByPercent/100, c.WorseByPercent*sharePoints),
		"a pass needs each primary metric within, no metric beyond, and no more failures than A",
	}
}

// linkParameter is the parameter with the link's words.
const linkParameter = "link"

func (c Comparison) same() [][]string {
	table := [][]string{{"Profile", c.Profile}, {"Windtunnel", cmp.Or(c.Windtunnel, format.None)}}
	if p := c.Placement; p != nil {
		table = append(table, []string{"Placement", placementText(*p)})
	}
	if h := c.Host; h != nil {
		table = append(table, []string{"Host", fmt.Sprintf("%s, %s CPUs, %s RAM, %s %s", h.CPUModel, h.Cores(), h.RAM(), h.OS, h.Kernel)})
		if settings := h.Settings.Text(); settings != "" {
			table = append(table, []string{"Kernel settings", settings})
		}
	}
	if c.Link != nil {
		table = append(table, []string{"Link", c.Link.Words()})
		for _, end := range []struct {
			name string
			of   result.NetworkSettings
		}{{"near", c.Link.Near.Settings}, {"far", c.Link.Far.Settings}} {
			settings := &result.Settings{NetworkSettings: end.of}
			if text := settings.Text(); text != "" {
				table = append(table, []string{"Kernel settings of the " + end.name + " end", text})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		if name == linkParameter && c.Link != nil {
			continue // the link's words include it
		}
		table = append(table, []string{strings.ReplaceAll(name, "_", " "), format.Any(c.Parameters[name])})
	}
	return table
}

func placementText(p result.Placement) string {
	return fmt.Sprintf("%s: probe CPU %s, echo CPU %s, system CPU %s, wait %s", p.Name, cmp.Or(p.ProbeCPUs, format.None),
		cmp.Or(p.EchoCPUs, format.None), cmp.Or(p.SystemCPUs, format.None), p.Wait)
}
