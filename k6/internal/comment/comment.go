// SPDX-License-Identifier: AGPL-3.0-only

// Package comment writes the comment of a gate in a pull request. The verdict comes first, the layout fits a phone, and
// the length stays below GitHub's limit. Text from other sources cannot become markup.
package comment

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/markdown"
)

const (
	// Most is the largest size of a comment in bytes. GitHub allows 65,536 characters; the rest leaves room for added
	// lines.
	Most = 60_000
	// mostText is the largest number of characters in a line, mostCell in a cell of a table.
	mostText, mostCell = 600, 120
	// mostRows is the largest number of rows in the table above the folds.
	mostRows = 20
	// ends is the number of bytes reserved for the ends of a fold and the line about omitted text.
	ends = 400
)

// Comment is the content of a comment. Texts are plain and may contain anything. Verdict is the word of an exit code,
// such as pass.
type Comment struct {
	Name    string // of the gate; a pull request may have several gates
	Verdict string
	Doubt   string   // why the verdict is inconclusive, in a few words
	Missing bool     // the doubt is missing evidence
	Strict  bool     // an inconclusive verdict fails the gate
	Why     string   // one line
	Facts   []string // one line each, below the table
	Table   Table
	Folds   []Fold
}

// Table has few columns. Numeric columns are right-aligned.
type Table struct {
	Head    []string
	Rows    [][]Cell
	Numeric func(column int) bool
}

// Cell is a cell's lines, from top to bottom.
type Cell []string

// Cells returns the cells of rows with one line in each cell.
func Cells(rows [][]string) [][]Cell {
	all := make([][]Cell, len(rows))
	for i, row := range rows {
		for _, line := range row {
			all[i] = append(all[i], Cell{line})
		}
	}
	return all
}

// Fold is a section that a click opens.
type Fold struct {
	Title string
	Lines []string
	Table Table
}

// Marker is the comment's first line: `<!-- windtunnel NAME VERDICT-DOUBT CONCLUSION -->`. The next comment with this
// name finds the existing comment by its marker.
func (c Comment) Marker() string {
	return fmt.Sprintf("<!-- windtunnel %s %s %s -->", word(c.Name), word(c.Verdict+" "+c.Doubt), c.Conclusion())
}

// word reduces a text to letters, digits and single hyphens, so that it cannot end an HTML comment.
func word(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	w := strings.Join(fields, "-")
	return w[:min(len(w), 60)]
}

// Each applies `to` to every text of the comment; the name and the verdict become words. Masking must happen here,
// before Markdown: Markdown's escapes would split the text to mask.
func (c Comment) Each(to func(string) string) Comment {
	c.Why = to(c.Why)
	c.Facts, c.Table, c.Folds = each(c.Facts, to), c.Table.each(to), slices.Clone(c.Folds)
	for i, f := range c.Folds {
		c.Folds[i] = Fold{to(f.Title), each(f.Lines, to), f.Table.each(to)}
	}
	return c
}

func (t Table) each(to func(string) string) Table {
	t.Head, t.Rows = each(t.Head, to), slices.Clone(t.Rows)
	for i, row := range t.Rows {
		t.Rows[i] = slices.Clone(row)
		for k, cell := range row {
			t.Rows[i][k] = each(cell, to)
		}
	}
	return t
}

func each[S ~[]string](lines S, to func(string) string) S {
	made := slices.Clone(lines)
	for i, line := range made {
		made[i] = to(line)
	}
	return made
}

// Markdown returns the comment as Markdown.
func (c Comment) Markdown() string {
	w := &writer{}
	w.add(c.Marker() + "\n")
	// Escape name and heading as one text: the colon between them could end an emoji that the name begins.
	w.add("### Windtunnel, " + markdown.Inert(cut(c.Name, mostCell)+": "+c.heading()) + "\n\n")
	if c.Why != "" {
		w.add(markdown.InertLine(cut(c.Why, mostText)) + "\n\n")
	}
	table := c.Table
	if left := len(table.Rows) - mostRows; left > 0 {
		table.Rows = table.Rows[:mostRows]
		c.Folds = append([]Fold{{Title: fmt.Sprintf("%d more rows", left), Table: Table{c.Table.Head, c.Table.Rows[mostRows:], c.Table.Numeric}}}, c.Folds...)
	}
	w.table(table)
	w.list(c.Facts)
	for i, f := range c.Folds {
		if !w.fold(f) {
			w.end(fmt.Sprintf("%d more sections are in the report of the run.\n", len(c.Folds)-i))
			break
		}
	}
	return strings.TrimRight(w.String(), "\n") + "\n"
}

func cut(text string, most int) string {
	return format.Shorten(strings.ToValidUTF8(text, "\uFFFD"), most)
}

// The conclusions, in GitHub's words. A gate succeeds if the conclusion is success or neutral.
const (
	Success = "success"
	Neutral = "neutral"
	Failure = "failure"
)

// The verdicts that are not always a failure.
const (
	pass         = "pass"
	inconclusive = "inconclusive"
)

// Conclusion is GitHub's conclusion for the verdict. An inconclusive verdict is neutral, unless evidence is missing or
// the gate is strict.
func (c Comment) Conclusion() string {
	switch {
	case c.Verdict == pass:
		return Success
	case c.Verdict == inconclusive && !c.Missing && !c.Strict:
		return Neutral
	}
	return Failure
}

// heading is the verdict for the reader, with the kind of doubt.
func (c Comment) heading() string {
	switch {
	case c.Verdict == pass:
		return "✓ pass"
	case c.Verdict == "fail":
		return "✗ fail"
	case c.Verdict != inconclusive:
		return c.Verdict
	}
	text := "cannot tell"
	if c.Doubt != "" {
		text += ": " + c.Doubt
	}
	if c.Conclusion() == Failure {
		return "✗ " + text
	}
	return text
}
