// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/comment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/seq"
)

// Comment is a pull request's comment about one or more comparisons, with the name of its gate. The comparisons may come
// from files.
func Comment(name string, all []Comparison) comment.Comment {
	doubt := doubtOf(all)
	c := comment.Comment{Name: name, Verdict: exit.Verdict(worst(all)), Doubt: doubt, Missing: doubt == IsMissing, Why: why(all),
		Table: comment.Table{Head: []string{"Metric", "Change", "Detectable from"}, Numeric: func(column int) bool { return column > 0 }}}
	for _, one := range all {
		of := ""
		if len(all) > 1 {
			of = one.name() + ": "
		}
		for _, m := range one.Metrics {
			if m.Role == Primary || m.Gate {
				c.Table.Rows = append(c.Table.Rows, m.forPhone(of))
			}
		}
		c.Facts = append(c.Facts, of+one.fact())
		c.Folds = append(c.Folds, one.folds(of)...)
	}
	c.Facts = append(c.Facts, "Detectable from: the smallest loss that these pairs would have shown")
	return c
}

func worst(all []Comparison) int {
	if len(all) == 0 {
		return exit.Inconclusive
	}
	return exit.Worst(seq.Map(all, Comparison.ExitCode)...)
}

// grave lists the doubts from the gravest to the least.
var grave = []string{IsMissing, TooLittleTime, TooNoisy}

// Gravest returns the gravest doubt, "" without a doubt. An unknown doubt counts as IsMissing.
func Gravest(doubts ...string) string {
	worst := len(grave)
	for _, doubt := range doubts {
		if doubt != "" {
			worst = min(worst, max(0, slices.Index(grave, doubt)))
		}
	}
	if worst == len(grave) {
		return ""
	}
	return grave[worst]
}

// doubt says why a comparison is inconclusive, "" if it is not. A file of an older version has no doubt: it counts as
// IsMissing if it judged no metric, otherwise as TooNoisy.
func (c Comparison) doubt() string {
	judged := slices.ContainsFunc(c.Metrics, func(m Metric) bool { return m.Outcome != "" })
	switch {
	case c.ExitCode() != exit.Inconclusive:
		return ""
	case c.Doubt != "":
		return Gravest(c.Doubt)
	case judged:
		return TooNoisy
	}
	return IsMissing
}

func doubtOf(all []Comparison) string {
	if worst(all) != exit.Inconclusive {
		return ""
	}
	if len(all) == 0 {
		return IsMissing
	}
	doubts := seq.Map(all, Comparison.doubt)
	return Gravest(doubts...)
}

// why is one line: the first reason of the comparison that decides the verdict, or the line of a pass.
func why(all []Comparison) string {
	code, doubt := worst(all), doubtOf(all)
	i := slices.IndexFunc(all, func(c Comparison) bool { return c.ExitCode() == code && c.doubt() == doubt })
	switch {
	case i < 0:
		return nothing
	case code == exit.Pass && len(all) == 1:
		return all[0].Headline
	case code == exit.Pass:
		return fmt.Sprintf("all %d scenarios are within the bound", len(all))
	}
	line := append(slices.Clone(all[i].Reasons), all[i].Headline)[0]
	if len(all) > 1 {
		line = all[i].name() + ": " + line
	}
	return line
}

// forPhone is a primary metric in three narrow cells: the judgement below the title, the interval below the change.
func (m Metric) forPhone(of string) []comment.Cell {
	outcome := m.Outcome
	if outcome == "" {
		outcome = m.Judgement
	}
	return []comment.Cell{{of + m.Title, outcome}, m.narrowChange(), {m.narrowSeen()}}
}

func (m Metric) narrowUnit() string {
	switch {
	case m.shares():
		return " pp"
	case m.slopes():
		return " " + units[m.Unit]
	}
	return " %"
}

func (m Metric) narrowChange() comment.Cell {
	if m.Change == nil {
		return comment.Cell{format.None}
	}
	cell := comment.Cell{signed(m.Change.Estimate) + m.narrowUnit()}
	if m.Change.Lo != nil && m.Change.Hi != nil {
		cell = append(cell, signed(*m.Change.Lo)+" to "+signed(*m.Change.Hi))
	}
	return cell
}

func (m Metric) narrowSeen() string {
	if m.WorseAtMost == nil {
		return "too few pairs"
	}
	return strings.TrimPrefix(signed(*m.WorseAtMost), "+") + m.narrowUnit()
}

// fact says in one line how the comparison was measured.
func (c Comparison) fact() string {
	facts := []string{c.name(), c.Profile}
	if took := strings.TrimPrefix(c.took(), ", "); took != "" {
		facts = append(facts, took)
	}
	return strings.Join(append(facts, fmt.Sprintf("bound %g %%", c.WorseByPercent), confidenceText(c.Confidence)+" % intervals"), ", ")
}

// folds are the details, with the most important ones first.
func (c Comparison) folds(of string) []comment.Fold {
	var judged, unjudged [][]comment.Cell
	for _, m := range c.Metrics {
		row := m.row()
		cells := []comment.Cell{{row[0], row[6]}, {row[1], row[2]}, {row[3], row[4]}}
		if m.Role == Shown || m.Control {
			unjudged = append(unjudged, cells)
		} else {
			judged = append(judged, cells)
		}
	}
	failures := seq.Map(c.failureRows(), func(f []string) []comment.Cell { return []comment.Cell{{f[0], f[4]}, {f[1]}, {f[2]}} })
	metrics := []string{"Metric", "A, B", "Change"}
	numbers := func(column int) bool { return column > 0 }
	return []comment.Fold{
		{Title: of + "reasons", Lines: c.Reasons},
		{Title: fmt.Sprintf("%s%d metrics", of, len(judged)), Table: comment.Table{Head: metrics, Rows: judged, Numeric: numbers}},
		{Title: of + "failures", Table: comment.Table{Head: []string{"Kind", "A", "B"}, Rows: failures, Numeric: numbers}},
		{Title: of + "what A and B were", Table: comment.Table{Head: []string{"", "A", "B"}, Rows: comment.Cells(c.sides())}},
		{Title: of + "notes", Lines: c.notes()},
		{Title: of + "controls and other figures that decide nothing", Table: comment.Table{Head: metrics, Rows: unjudged, Numeric: numbers}},
		{Title: of + "what was the same", Table: comment.Table{Head: []string{"Parameter", "Value"}, Rows: comment.Cells(c.same())}},
	}
}
