// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Markdown writes the report as GitHub-flavoured Markdown. What a result says is escaped.
func Markdown(set Set, options Options) ([]byte, error) {
	p := build(set, options)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**Verdict: %s** — %s\n\n", escape(p.Title), verdictMark(p.Verdict), p.Headline)
	for _, r := range p.Reasons {
		fmt.Fprintf(&b, "- %s: %s: %s\n", escape(r.Name), escape(r.Outcome), escape(r.Text))
	}
	if len(p.Reasons) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("## Summary\n\n")
	table(&b, p.Summary)
	b.WriteString("## Environment\n\n")
	table(&b, p.Environment)
	for _, s := range p.Sections {
		markdownSection(&b, s)
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n"), nil
}

// SummaryMarkdown is the summary table and the verdict alone, for a terminal.
func SummaryMarkdown(set Set, options Options) string {
	p := build(set, options)
	var b strings.Builder
	table(&b, p.Summary)
	for _, r := range p.Reasons {
		fmt.Fprintf(&b, "%s: %s: %s\n", r.Name, r.Outcome, strings.Join(strings.Fields(r.Text), " "))
	}
	fmt.Fprintf(&b, "verdict: %s\n", p.Verdict)
	return b.String()
}

func markdownSection(b *strings.Builder, s Section) {
	fmt.Fprintf(b, "## %s\n\n", escape(s.Title))
	fmt.Fprintf(b, "`%s` — **%s**\n\n", strings.ReplaceAll(s.Entry.Name, "`", "'"), verdictMark(s.Entry.Outcome))
	for _, fact := range s.Facts {
		fmt.Fprintf(b, "%s\n\n", escape(fact))
	}
	for _, t := range s.Tables {
		fmt.Fprintf(b, "### %s\n\n", t.Title)
		table(b, t)
	}
	if len(s.Notes) > 0 {
		b.WriteString("### Notes\n\n")
		list(b, s.Notes)
	}
	b.WriteString("### Verdict\n\n")
	fmt.Fprintf(b, "**%s**\n\n", verdictMark(s.Entry.Outcome))
	list(b, s.Entry.Reasons)
}

func list(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	if len(lines) > 0 {
		b.WriteByte('\n')
	}
}

func table(b *strings.Builder, t Table) {
	if len(t.Rows) == 0 {
		return
	}
	cells := func(row []string) {
		for _, cell := range row {
			b.WriteString("| " + escape(cell) + " ")
		}
		b.WriteString("|\n")
	}
	cells(t.Head)
	for i := range t.Head {
		if t.Numeric(i) {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		cells(row)
	}
	b.WriteByte('\n')
	list(b, t.Notes)
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

// special are the characters that Markdown gives a meaning within a line or a table.
const special = "\\`*_[]<>|&~#$"

// escape makes text plain in Markdown: one line, nothing formatted, no HTML. An underscore or a
// hash within a word has no meaning and stays as it is.
func escape(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	var b strings.Builder
	for i, r := range runes {
		inWord := i > 0 && i < len(runes)-1 && isWord(runes[i-1]) && isWord(runes[i+1])
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case (r == '_' || r == '#') && inWord:
			b.WriteRune(r)
		case strings.ContainsRune(special, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
