// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// Markdown writes the report as GitHub-flavoured Markdown. Text from a result is escaped.
func Markdown(set Set, options Options) ([]byte, error) {
	p := build(set, options)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**Verdict: %s** — %s\n\n", markdown.Escape(p.Title), verdictMark(p.Verdict), p.Headline)
	markdown.List(&b, p.reasons())
	fmt.Fprintf(&b, "%s\n\n", p.Means)
	b.WriteString("## Summary\n\n")
	table(&b, p.Summary)
	for _, s := range p.Sections {
		markdownSection(&b, s)
	}
	b.WriteString("## Environment\n\n")
	table(&b, p.Environment)
	return []byte(strings.TrimRight(b.String(), "\n") + "\n"), nil
}

// SummaryMarkdown is the summary table and the verdict alone, for a terminal.
func SummaryMarkdown(set Set, options Options) string {
	p := build(set, options)
	var b strings.Builder
	table(&b, p.Summary)
	for _, line := range p.reasons() {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintf(&b, "verdict: %s\n", p.Verdict)
	return b.String()
}

// reasons are the first reasons, one line each.
func (p Page) reasons() []string {
	lines := seq.Map(p.Reasons, Line.String)
	if p.More != "" {
		lines = append(lines, p.More)
	}
	return lines
}

func markdownSection(b *strings.Builder, s Section) {
	fmt.Fprintf(b, "## %s\n\n", markdown.Escape(s.Title))
	fmt.Fprintf(b, "`%s` — **%s**\n\n", strings.ReplaceAll(s.Entry.Name, "`", "'"), verdictMark(s.Entry.Outcome))
	for _, fact := range s.Facts {
		fmt.Fprintf(b, "%s\n\n", markdown.Escape(fact))
	}
	for _, t := range s.Tables {
		fmt.Fprintf(b, "### %s\n\n", markdown.Escape(t.Title))
		table(b, t)
	}
	if len(s.Notes) > 0 {
		b.WriteString("### Notes\n\n")
		markdown.List(b, s.Notes)
	}
	b.WriteString("### Verdict\n\n")
	fmt.Fprintf(b, "**%s**\n\n", verdictMark(s.Entry.Outcome))
	markdown.List(b, result.Texts(s.Entry.Reasons))
}

// longest is the longest text of the first cell in Markdown: GitHub makes a table as wide as its widest line. The result
// has the whole text.
const longest = 160

func table(b *strings.Builder, t Table) {
	if len(t.Rows) == 0 {
		return
	}
	rows := slices.Clone(t.Rows)
	for i, row := range rows {
		rows[i] = append([]string{format.Shorten(row[0], longest)}, row[1:]...)
	}
	markdown.Table(b, t.Head, rows, t.Numeric)
	if t.Finding != "" {
		fmt.Fprintf(b, "**%s**\n\n", markdown.Escape(t.Finding))
	}
	markdown.List(b, t.Notes)
}

func verdictMark(outcome string) string {
	switch outcome {
	case "pass":
		return tickOK + " pass"
	case "fail", "set-up failed":
		return tickBad + " " + outcome
	}
	return tickUnknown + " " + outcome
}
