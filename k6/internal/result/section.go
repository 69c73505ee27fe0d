// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Section is a table of what a scenario shows beyond its operations. Its script, or who judges it, makes it; reports, streams
// and comparisons take it as it is. schemas/result.schema.json says what each field is for.
type Section struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Operation string   `json:"operation,omitempty"` // that it is about; "" where it is about none
	Columns   []Column `json:"columns"`
	Rows      [][]Cell `json:"rows"`
	// Finding is a sentence that must not be missed. Answer is what it found in a word: "" where it looked and found nothing,
	// nil where it looked for nothing.
	Finding  string    `json:"finding,omitempty"`
	Answer   *string   `json:"answer,omitempty"`
	Headline *Glance   `json:"headline,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Plot     *Plotting `json:"plot,omitempty"`
}

// What a report prints of a column beyond all of it.
const (
	PrintValue = "value" // ranges without their ends
	PrintNone  = "none"  // nothing: it is there for programs
)

// Column is titled, and has a unit, which says how its cells are written.
type Column struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Unit   string `json:"unit"`
	Digits *int   `json:"digits,omitempty"` // after the point; nil: as many as the unit has
	Print  string `json:"print,omitempty"`
	// Compare is which of two runs is better: lower, higher; "" where they are not compared.
	Compare string `json:"compare,omitempty"`
}

// Glance is a section in a few words, for a report's card.
type Glance struct {
	Value  string `json:"value"`
	Of     string `json:"of"`
	Detail string `json:"detail,omitempty"`
}

// Plotting says how a section is drawn: the columns Y over the column X.
type Plotting struct {
	Kind string   `json:"kind"` // line, bars, curves, course
	X    string   `json:"x"`
	Y    []string `json:"y"`
	// Below is drawn under Y, over the same X. Of a course; nil where there is nothing.
	Below *Lower `json:"below,omitempty"`
	// Marks is a column of texts: a row that has one is marked by it. Of a course; "" where there are no marks.
	Marks string `json:"marks,omitempty"`
}

// Lower is the lower part of a course, with an axis of its own: each column belongs to that of the upper part in its place.
type Lower struct {
	Title string   `json:"title"`
	Y     []string `json:"y"`
}

// Check tells what is wrong with a section: a column named twice, a row of another length, a plot of what is not there.
func (s Section) Check() error {
	var names []string
	for _, c := range s.Columns {
		if slices.Contains(names, c.Name) {
			return fmt.Errorf("section %s: two columns %s", s.Name, c.Name)
		}
		names = append(names, c.Name)
	}
	for i, row := range s.Rows {
		if len(row) != len(names) {
			return fmt.Errorf("section %s: row %d has %d cells for %d columns", s.Name, i+1, len(row), len(names))
		}
	}
	if s.Plot == nil {
		return nil
	}
	for _, name := range s.Plot.columns() {
		if !slices.Contains(names, name) {
			return fmt.Errorf("section %s: no column %s to plot", s.Name, name)
		}
	}
	return s.checkUnits()
}

// columns are the names of all that it needs.
func (p Plotting) columns() []string {
	all := slices.Concat([]string{p.X}, p.Y, p.below())
	if p.Marks != "" {
		all = append(all, p.Marks)
	}
	return all
}

func (p Plotting) below() []string {
	if p.Below == nil {
		return nil
	}
	return p.Below.Y
}

// checkUnits: what is drawn over one axis has one unit.
func (s Section) checkUnits() error {
	p := s.Plot
	course := p.Kind == "course"
	switch {
	case !course && (p.Below != nil || p.Marks != ""):
		return fmt.Errorf("section %s: only a course has a part below it, or marks", s.Name)
	case p.Below != nil && len(p.Below.Y) != len(p.Y):
		return fmt.Errorf("section %s: %d columns below %d", s.Name, len(p.Below.Y), len(p.Y))
	case !course && p.Kind != "curves":
		return nil
	}
	for _, axis := range [][]string{p.Y, p.below()} {
		for _, name := range axis {
			if own, first := s.Columns[s.Place(name)].Unit, s.Columns[s.Place(axis[0])].Unit; own != first {
				return fmt.Errorf("section %s: curves of %s and of %s cannot have one axis", s.Name, first, own)
			}
		}
	}
	return nil
}

// Place is that of a column, -1 where there is none of the name.
func (s Section) Place(column string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == column })
}

// labelMost is how long a row's label may be, in characters; a longer text is no name.
const labelMost = 64

// Named reports whether its first column names its rows.
func (s Section) Named() bool { return s.label() >= 0 }

// label is the place of the column that names the rows: the first but ticks, where it is of texts; else -1.
func (s Section) label() int {
	first := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Unit != "ok" })
	if first >= 0 && s.Columns[first].Unit == "text" {
		return first
	}
	return -1
}

// Labels name the rows, each differently: by the first column of a short text, else by their number.
func (s Section) Labels() []string {
	column := s.label()
	var labels []string
	for i, row := range s.Rows {
		label := strconv.Itoa(i + 1)
		if column >= 0 {
			if text := row[column].String(); text != "" && utf8.RuneCountInString(text) <= labelMost {
				label = text
			}
		}
		if slices.Contains(labels, label) {
			label += " #" + strconv.Itoa(i+1)
		}
		labels = append(labels, label)
	}
	return labels
}
