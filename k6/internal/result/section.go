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
// comparisons use it unchanged.
type Section struct {
	// The name of the section's kind: sections of several operations may share it.
	Name  string `json:"name" jsonschema:"pattern=^[a-z][a-z0-9_]*$"`
	Title string `json:"title"`
	// The operation of the section; absent for all operations.
	Operation string   `json:"operation,omitempty"`
	Columns   []Column `json:"columns" jsonschema:"minItems=1"`
	// Each row has one cell for each column.
	Rows [][]Cell `json:"rows"`
	// An important sentence.
	Finding string `json:"finding,omitempty"`
	// The finding in a word, for a comparison of two runs. Empty means that the run looked for it and found nothing.
	Answer *string `json:"answer,omitempty"`
	// The beginning of a report's card, if the result has no headline of an operation.
	Headline *Glance  `json:"headline,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	// The drawing: columns y over the column x, by their names.
	Plot *Plotting `json:"plot,omitempty"`
}

// Values of Print: which part of a column a report prints. The default is all of it.
const (
	PrintValue = "value" // without the ends of ranges
	PrintNone  = "none"  // nothing; the column is for programs
)

// Column has a title and a unit. The unit decides how its cells are written.
type Column struct {
	// Each column has a different name.
	Name string `json:"name" jsonschema:"pattern=^[A-Za-z0-9_]+$"`
	// The title does not contain the unit.
	Title string `json:"title"`
	// The unit of the numbers, and their format. Units are text, ok (a tick), count, share (0 to 1), ratio (1 is the same),
	// times, and x (a factor with three digits). Further units are per_s, ns, B and B/s (each with the unit that fits), ms,
	// s, KiB, MiB, Mbit/s, or another, such as s/GiB. The first column without ok names the row if its unit is text.
	Unit string `json:"unit" jsonschema:"minLength=1"`
	// Digits after the point; absent for the unit's default.
	Digits *int `json:"digits,omitempty" jsonschema:"minimum=0,maximum=9"`
	// The printed part of the column in a report: value is ranges without their ends; none is nothing, as the column is for
	// programs. Absent means all.
	Print string `json:"print,omitempty" jsonschema:"enum=value,enum=none"`
	// The better direction, if a comparison of two runs shows the numbers.
	Compare string `json:"compare,omitempty" jsonschema:"enum=lower,enum=higher"`
	// A comparison judges the numbers by its bound, in place of speed and CPU time. Lower must be better. A text in place of
	// a number says that the row has none. With null, which means unknown, no comparison passes.
	Judged bool `json:"judged,omitempty" jsonschema_extras:"const=true"`
	// A comparison judges the numbers beside speed and CPU time: a much larger number breaks the gate. Lower must be better.
	Secondary bool `json:"secondary,omitempty" jsonschema_extras:"const=true"`
	// A comparison takes smaller numbers as this one, so that harmless numbers count alike and a ratio exists.
	Least float64 `json:"least,omitempty" jsonschema:"minimum=0"`
}

// Glance is a short summary of a section, for a report's card.
type Glance struct {
	Value  string `json:"value"`
	Of     string `json:"of"`
	Detail string `json:"detail,omitempty"`
}

// Plotting says how to draw a section: the columns Y over the column X.
type Plotting struct {
	// A line needs numbers as x. Curves have all columns y, which have one unit, in one chart with their ranges, and equal
	// distances between rows. A course has all columns y, which have one unit, over a number x, such as a time.
	Kind string   `json:"kind" jsonschema:"enum=line,enum=bars,enum=curves,enum=course"`
	X    string   `json:"x"`
	Y    []string `json:"y" jsonschema:"minItems=1"`
	// The distances of x are logarithms. Only curves have this, with x above 0.
	Log bool `json:"log,omitempty"`
	// The part of the plot under y, over the same x. These columns have one unit. Each column belongs to the column of y
	// with the same place. Only a course has this.
	Below *Lower `json:"below,omitempty"`
	// A column of texts. A text in it marks the row. Only a course has this.
	Marks string `json:"marks,omitempty"`
}

// Lower is the lower part of a course, with a separate axis.
type Lower struct {
	Title string   `json:"title"`
	Y     []string `json:"y" jsonschema:"minItems=1"`
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

// Kinds are all kinds of a reason; Reason.Kind explains each.
var Kinds = []string{"process", "system", Machine, "meter", "runner", "interrupt", "probe", "error", "threshold", "integrity", Generator,
	"dropped", "samples", "rounds", "clock", "limit", "row", "target", "noise", "empty"}

const (
	// Machine means that other programs used the measured CPUs.
	Machine = "machine"
	// Generator means that the generator or the machine may have been the limit.
	Generator = "generator"
)

// Cause is the role of a reason that may have caused all others.
const Cause = "cause"

// Reason says why a verdict is not pass: one fault, or several of a kind that k6/internal/judge has combined.
type Reason struct {
	// A cause broke alone, and may have caused all consequences.
	Role string `json:"role" jsonschema:"enum=cause,enum=consequence"`
	// The kind of the fault. The causes are: process (a process of the testbed ended early), system (an operation gets no
	// answers), machine (other programs used the measured CPUs). Further causes are meter (the generator met its limit, or a
	// control failed), runner (it has no record that counts), interrupt (the run ended early), probe (it ended early). The
	// consequences are: error (requests failed), threshold (crossed), integrity (the data is not as reported), generator
	// (it, or the machine, may be the limit). Further consequences are dropped (iterations were never sent), samples (too
	// few), rounds (some were cut off), clock (it jumped), limit (of the profile breakpoint). Consequences of a matrix are
	// row (it did not run), target (a candidate missed it), noise (turns differ too much, or have another limit), empty (a
	// part was not measured or compared).
	Kind string `json:"kind"`
	// One sentence for all combined reasons.
	Text string `json:"text"`
	// The number of combined reasons.
	Count int `json:"count" jsonschema:"minimum=1"`
	// The sentence of each, if there are several.
	All []string `json:"all,omitempty"`
	// True if other programs used the CPUs and may be the cause. The verdict is then inconclusive, and the scenario is
	// measured again.
	BusyMachine bool `json:"busy_machine,omitempty"`
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
