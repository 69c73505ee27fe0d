// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/seq"
)

// mostRows is the largest number of rows of a table on the terminal; the page has all rows.
const mostRows = 24

// Summary is the text for the terminal: a headline, the verdict with its reasons, and an aligned table.
func (c Comparison) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", c.Headline)
	if rows := seq.Map(c.forTerminal(), Metric.row); len(rows) > 0 {
		writeAligned(&b, append([][]string{c.head()}, rows...))
		if left := c.count() - len(rows); left > 0 {
			fmt.Fprintf(&b, "and %s in %s\n", format.Plural(left, "more metric"), PageName)
		}
		b.WriteByte('\n')
	}
	c.writeReasons(&b, "")
	fmt.Fprintf(&b, "verdict: %s%s%s\n", c.word(), c.secondaryOff(), c.took())
	return b.String()
}

// took says how many pairs a verdict needed, and how long it took: "" if the runs did not take turns.
func (c Comparison) took() string {
	if !c.Interleaved {
		return ""
	}
	return fmt.Sprintf(", by %s in %s", format.Plural(min(len(c.A.Runs), len(c.B.Runs)), "pair"), format.Seconds(c.DurationS))
}

// Summary is the text for several scenarios: the headline and reasons of each, and one table.
func (s Set) Summary() string {
	var b strings.Builder
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "%s: %s\n", p.name(), p.Headline)
	}
	b.WriteByte('\n')
	if rows := s.changes(); len(rows) > 0 {
		writeAligned(&b, append([][]string{s.head()}, rows...))
		b.WriteByte('\n')
	}
	for _, p := range s.Parts {
		p.writeReasons(&b, p.name()+": ")
	}
	fmt.Fprintf(&b, "verdict: %s%s, %s\n", exit.Verdict(s.ExitCode()), s.secondaryOff(), s.passed())
	return b.String()
}

// mostReasons is the largest number of a comparison's reasons on the terminal.
const mostReasons = 5

func (c Comparison) writeReasons(b *strings.Builder, of string) {
	for _, reason := range c.Reasons[:min(len(c.Reasons), mostReasons)] {
		fmt.Fprintf(b, "  %s%s\n", of, reason)
	}
	if left := len(c.Reasons) - mostReasons; left > 0 {
		fmt.Fprintf(b, "  %sand %s in %s\n", of, format.Plural(left, "more reason"), PageName)
	}
}

// secondaryOff is a part of the verdict's line: only primary metrics were judged.
func (c Comparison) secondaryOff() string {
	if c.Secondary == SecondaryOff {
		return " of the primary metrics alone (SECONDARY=off)"
	}
	return ""
}

// secondaryOff is the same part for several scenarios of one command.
func (s Set) secondaryOff() string {
	if len(s.Parts) == 0 {
		return ""
	}
	return s.Parts[0].secondaryOff()
}

func (c Comparison) count() int {
	return seq.Count(c.Metrics, func(m Metric) bool { return m.Role != Shown })
}

// forTerminal returns all judged metrics. If there are more than mostRows, it returns the primary and the different metrics, and
// metrics that break the gate come first.
func (c Comparison) forTerminal() []Metric {
	if c.count() <= mostRows {
		return seq.Filter(c.Metrics, func(m Metric) bool { return m.Role != Shown })
	}
	shown := seq.Filter(c.Metrics, func(m Metric) bool {
		return m.Role != Shown && (m.Role == Primary || m.Gate || m.Judgement == Better || m.Judgement == Worse)
	})
	breaks := func(m Metric) bool { return m.Gate }
	return slices.Concat(seq.Filter(shown, breaks), seq.Filter(shown, func(m Metric) bool { return !m.Gate }))[:min(len(shown), mostRows)]
}

// writeAligned pads the columns of rows; columns of numbers are right-aligned.
func writeAligned(b *strings.Builder, rows [][]string) {
	for _, line := range format.Align(rows, lastIsText) {
		b.WriteString(line + "\n")
	}
}
