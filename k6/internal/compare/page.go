// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"bytes"
	_ "embed"
	"html/template"
	"math"
	"path/filepath"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

//go:embed page.html.tmpl
var pageTemplate string

var page = report.WithTables("compare", pageTemplate)

// writePages writes the page as Markdown and as HTML.
func writePages(dir, text string, s Set) error {
	if err := run.WriteFile(filepath.Join(dir, PageName), []byte(text)); err != nil {
		return err
	}
	html, err := s.HTML()
	if err != nil {
		return err
	}
	return run.WriteFile(filepath.Join(dir, HTMLName), html)
}

// section is a scenario on the page.
type section struct {
	Comparison
	Name, Word, Counts string
	Chart              template.HTML
	Tables             []report.Table
}

// HTML is the self-contained page of all comparisons: what Markdown has, and a chart of the intervals.
func (s Set) HTML() ([]byte, error) {
	sections := seq.Map(s.Parts, func(p Part) section {
		blocks := seq.Filter(append(p.tables(), p.details()...), func(b block) bool { return !b.isEmpty() })
		return section{p.Comparison, p.name(), p.word(), p.counts(), report.DrawIntervals(p.intervals()), seq.Map(blocks, block.table)}
	})
	words := seq.Distinct(seq.Map(sections, func(one section) string { return one.Word }))
	verdict := exit.Verdict(s.ExitCode())
	if len(words) == 1 {
		verdict = words[0]
	}
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Style         template.CSS
		Name, Verdict string
		Only          string // a remark on the verdict
		Sections      []section
		Legend        []string
	}{report.Style(), s.name(), verdict, s.secondaryOff(), sections, s.legend()})
	return b.Bytes(), err
}

func (b block) table() report.Table {
	table := report.Table{Title: b.title, Head: b.head, Rows: b.rows, State: -1, Notes: b.lines}
	if len(b.head) > 2 && b.numbers(1) {
		table.Numbers = b.numbers
	}
	return table
}

// intervals are the rows of the terminal that have an interval in percent.
func (c Comparison) intervals() []report.Interval {
	shown := seq.Filter(c.forTerminal(), func(m Metric) bool {
		return m.Change != nil && m.Change.Lo != nil && m.Change.Hi != nil && !m.shares() && !m.slopes()
	})
	return seq.Map(shown, func(m Metric) report.Interval {
		one := report.Interval{Title: m.Title, Text: changeText(m.Change) + " (" + interval(m.Change) + ")",
			Estimate: m.Change.Estimate, Low: *m.Change.Lo, High: *m.Change.Hi, Bound: 100 * math.Expm1(m.bound(c.WorseByPercent)+m.allowance)}
		if m.Better == "higher" {
			one.Bound = 100 * math.Expm1(-m.bound(c.WorseByPercent)-m.allowance)
		}
		switch {
		case m.Judgement == Better:
			one.Class = "good"
		case m.Judgement == Worse || m.Gate:
			one.Class = "bad"
		}
		return one
	})
}
