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
		drawn := p.intervals()
		return section{p.Comparison, p.name(), p.word(), p.counts(), report.DrawIntervals(drawn, p.count()-len(drawn)), drawnOf(append(p.tables(), p.details()...))}
	})
	words := seq.Distinct(seq.Map(sections, func(one section) string { return one.Word }))
	verdict := exit.Verdict(s.ExitCode())
	if len(words) == 1 {
		verdict = words[0]
	}
	model := struct {
		Style         template.CSS
		Name, Verdict string
		Only, Passed  string // remarks on the verdict
		All           []report.Table
		Sections      []section
		Legend        []string
	}{Style: report.Style(), Name: s.name(), Verdict: verdict, Only: s.secondaryOff(), Sections: sections}
	if len(s.Parts) == 1 {
		model.Legend = s.Parts[0].legend()
	} else {
		model.Passed, model.All, model.Legend = s.passed(), drawnOf(s.tables()), s.legend()
	}
	var b bytes.Buffer
	err := page.Execute(&b, model)
	return b.Bytes(), err
}

func drawnOf(blocks []block) []report.Table {
	return seq.Map(seq.Filter(blocks, func(b block) bool { return !b.isEmpty() }), block.table)
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
