// SPDX-License-Identifier: AGPL-3.0-only

// Package comment writes what a gate says in a pull request: the verdict first, for the width of a phone, below GitHub's
// limit of a comment, and no text of others in it gains a meaning.
package comment

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"windtunnel/k6/internal/fault"
	"windtunnel/k6/internal/markdown"
)

const (
	// Most is how many bytes a comment has at most. GitHub takes 65,536 characters; the rest is for who adds a line.
	Most = 60_000
	// mostText is how many characters a line keeps, mostCell a cell of a table.
	mostText, mostCell = 600, 120
	// mostRows of the table above the folds.
	mostRows = 20
	// ends is what is kept free for the ends of a fold and the line of what was cut.
	ends = 400
)

// Comment is what to say. Texts are plain: they may hold anything. Verdict is a word of an exit code, such as pass.
type Comment struct {
	Name    string // of the gate; a pull request may have several
	Verdict string
	Doubt   string   // why an inconclusive verdict is inconclusive, in a few words
	Missing bool     // the doubt is that evidence is missing
	Strict  bool     // the gate fails where the verdict is inconclusive
	Why     string   // one line
	Facts   []string // a line each, below the table
	Table   Table
	Folds   []Fold
}

// Table has few columns. Numeric ones are set to the right.
type Table struct {
	Head    []string
	Rows    [][]Cell
	Numeric func(column int) bool
}

// Cell is lines, one below the other.
type Cell []string

// Cells are those of rows with a line each.
func Cells(rows [][]string) [][]Cell {
	all := make([][]Cell, len(rows))
	for i, row := range rows {
		for _, line := range row {
			all[i] = append(all[i], Cell{line})
		}
	}
	return all
}

// Fold is what a click shows.
type Fold struct {
	Title string
	Lines []string
	Table Table
}

// Marker is the comment's first line: `<!-- windtunnel NAME VERDICT-DOUBT CONCLUSION -->`. The next comment of that name finds this one by it.
func (c Comment) Marker() string {
	return fmt.Sprintf("<!-- windtunnel %s %s %s -->", word(c.Name), word(c.Verdict+" "+c.Doubt), c.Conclusion())
}

// word is a text as a word that ends no HTML comment: letters, digits and single hyphens.
func word(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	w := strings.Join(fields, "-")
	return w[:min(len(w), 60)]
}

// Each is the comment with every text of others as `to` makes it; the name and the verdict are words. What masks a text must do so
// before Markdown, whose escapes would part what it looks for.
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

// Markdown is the comment.
func (c Comment) Markdown() string {
	w := &writer{}
	w.add(c.Marker() + "\n")
	// As one text, as the colon between the two could end an emoji that the name begins.
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
	text = fault.OneLine(strings.ToValidUTF8(text, "\uFFFD"))
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
