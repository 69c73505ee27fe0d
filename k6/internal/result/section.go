// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"windtunnel/k6/internal/seq"
)

// Section is a table of a scenario in addition to its operations. The script or the judge makes it; reports, streams and
// comparisons use it unchanged. schemas/result.schema.json documents each field.
type Section struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Operation string   `json:"operation,omitempty"` // operation that the section is about; "" if there is none
	Columns   []Column `json:"columns"`
	Rows      [][]Cell `json:"rows"`
	// Finding is an important sentence. Answer is the finding in a word: "" if there is no finding, nil if the section
	// does not look for one.
	Finding  string    `json:"finding,omitempty"`
	Answer   *string   `json:"answer,omitempty"`
	Headline *Glance   `json:"headline,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Plot     *Plotting `json:"plot,omitempty"`
}

// Values of Print: which part of a column a report prints. The default is all of it.
const (
	PrintValue = "value" // without the ends of ranges
	PrintNone  = "none"  // nothing; the column is for programs
)

// Column has a title and a unit. The unit decides how its cells are written.
type Column struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Unit   string `json:"unit"`
	Digits *int   `json:"digits,omitempty"` // decimals; nil for the unit's default
	Print  string `json:"print,omitempty"`
	// Compare says which of two values is better: lower or higher; "" if they are not compared.
	Compare string `json:"compare,omitempty"`
	// Judged: a comparison judges the numbers by its bound, in place of speed and CPU time. Lower must be better.
	Judged bool `json:"judged,omitempty"`
	// Secondary: a comparison judges the numbers beside speed and CPU time, as a secondary metric. Lower must be better.
	Secondary bool `json:"secondary,omitempty"`
	// Least: a comparison takes smaller numbers as this one, so that harmless numbers count alike and a ratio exists.
	Least float64 `json:"least,omitempty"`
}

// Glance is a short summary of a section, for a report's card.
type Glance struct {
	Value  string `json:"value"`
	Of     string `json:"of"`
	Detail string `json:"detail,omitempty"`
}

// Plotting says how to draw a section: the columns Y over the column X.
type Plotting struct {
	Kind string   `json:"kind"`
	X    string   `json:"x"`
	Y    []string `json:"y"`
	// Log: the distances of X are logarithms. Only curves may have it, over numbers above 0.
	Log bool `json:"log,omitempty"`
	// Below is drawn under Y, over the same X. Only a course may have it.
	Below *Lower `json:"below,omitempty"`
	// Marks is a column of texts that mark their rows. Only a course may have it; "" without marks.
	Marks string `json:"marks,omitempty"`
}

// Lower is the lower part of a course, with a separate axis. Each of its columns belongs to the upper part's column at
// the same index.
type Lower struct {
	Title string   `json:"title"`
	Y     []string `json:"y"`
}

// Check reports what is wrong with a section: a duplicate column, a judged column without a direction, a row of another
// length, or a plot of a missing column.
func (s Section) Check() error {
	var names []string
	for _, c := range s.Columns {
		if slices.Contains(names, c.Name) {
			return fmt.Errorf("section %s: two columns %s", s.Name, c.Name)
		}
		switch {
		case (c.Judged || c.Secondary) && c.Compare != "lower":
			return fmt.Errorf("section %s: the column %s is judged, but lower is not better", s.Name, c.Name)
		case c.Judged && c.Secondary:
			return fmt.Errorf("section %s: the column %s is both primary and secondary", s.Name, c.Name)
		case c.Least < 0 || c.Least > 0 && !c.Judged && !c.Secondary:
			return fmt.Errorf("section %s: the column %s has a least value, but is not judged", s.Name, c.Name)
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
	if s.Plot.Log && (s.Plot.Kind != "curves" || slices.ContainsFunc(s.Rows, s.belowLog)) {
		return fmt.Errorf("section %s: only curves over numbers above 0 have an axis of logarithms", s.Name)
	}
	return s.checkUnits()
}

// belowLog reports whether a row has no logarithm at the plot's X.
func (s Section) belowLog(row []Cell) bool {
	value := row[s.Place(s.Plot.X)].Value
	return value == nil || *value <= 0
}

// columns are the names of all columns that the plot needs.
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

// checkUnits checks that the columns over one axis have the same unit.
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

// Place is the index of a column, -1 if there is no such column.
func (s Section) Place(column string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == column })
}

// labelMost is the largest length of a row's label in characters; a longer text is no name.
const labelMost = 64

// Named reports whether a column names the rows.
func (s Section) Named() bool { return s.label() >= 0 }

// label is the index of the column that names the rows: the first column other than ticks, if it has texts; otherwise
// -1.
func (s Section) label() int {
	first := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Unit != "ok" })
	if first >= 0 && s.Columns[first].Unit == "text" {
		return first
	}
	return -1
}

// Labels are distinct names of the rows: the first column of short texts, or the row numbers.
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

// Kinds of a reason; k6/schemas/result.schema.json lists all.
const (
	// Machine means that other programs used the measured CPUs.
	Machine = "machine"
	// Generator means that the generator or the machine may have been the limit.
	Generator = "generator"
)

// Cause is the role of a reason that may have caused all others.
const Cause = "cause"

// Reason says why a verdict is not pass: one fault, or several of a kind that k6/internal/judge has combined. Count is
// their number; All has the sentence of each if there are several. BusyMachine says that other programs used the CPUs
// and may be the cause, so that another measurement may decide.
type Reason struct {
	Role        string   `json:"role"`
	Kind        string   `json:"kind"`
	Text        string   `json:"text"`
	Count       int      `json:"count"`
	All         []string `json:"all,omitempty"`
	BusyMachine bool     `json:"busy_machine,omitempty"`
}

// UnmarshalJSON reads a reason, or a string: the form of a reason in older results.
func (r *Reason) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*r = Reason{Count: 1}
		return json.Unmarshal(data, &r.Text)
	}
	type plain Reason
	return json.Unmarshal(data, (*plain)(r))
}

// Texts returns the sentences of reasons.
func Texts(reasons []Reason) []string {
	return seq.Map(reasons, func(r Reason) string { return r.Text })
}
