// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// evidence lists the metrics that explain where the time went: the comparable values of sections, and the CPU time of
// each process of the system. They are compared like other metrics, but never break the gate: a part that grows while
// the whole shrinks is no regression. A column that is judged has primary or secondary metrics.
func evidence(r result.Result) []row {
	var all []row
	add := func(m Metric, role string, one row) {
		m.Role, m.Notes, m.evidence = role, []string{}, true
		one.Metric, one.quiet = m, one.quiet && role == Shown
		all = append(all, one)
	}
	for _, s := range r.Sections {
		about := s.Title + ": "
		if s.Operation != "" {
			about = r.TitleOf(s.Operation) + ": "
		}
		one := true
		for k, column := range s.Columns {
			if column.Compare == "" {
				continue
			}
			role := Shown
			switch {
			case column.Judged:
				role = Primary
			case column.Secondary:
				role = Secondary
			}
			least := leastText(column.Least)
			for i, label := range s.Labels() {
				m := Metric{Operation: s.Operation, Name: s.Name + "." + label, Title: about + label, Unit: column.Unit, Better: column.Compare}
				switch {
				case !s.Named():
					m.Name, m.Title = s.Name+"."+column.Name, about+column.Title
				case !one || column.Secondary:
					m.Name, m.Title = m.Name+"."+column.Name, m.Title+", "+column.Title
				}
				m.Title += least
				cell := s.Rows[i][k]
				if cell.Value != nil && column.Least > 0 {
					cell.Value = new(max(*cell.Value, column.Least))
				}
				add(m, role, row{value: cell.Value, quiet: !s.Named(), said: cell.Text != nil})
			}
			one = false
		}
	}
	for _, p := range r.Processes {
		if p.Role == "system" {
			add(Metric{Name: "process." + p.Name, Title: p.Name + " CPU", Unit: "s", Better: direction(false)}, Shown, row{value: &p.CPUS, quiet: true})
		}
	}
	return all
}

// atLeast is in the title of a metric that counts small values alike.
const atLeast = ", at least "

// leastText is the part of a title about the least value of a column, in at most four digits; "" without one.
func leastText(least float64) string {
	if least == 0 {
		return ""
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(least, 'g', 4, 64), 64)
	return atLeast + strconv.FormatFloat(rounded, 'f', -1, 64)
}

// answers returns for each section the findings in the runs of both sides, one line each.
func answers(a, b []Measured) []string {
	var lines []string
	var seen []key
	for _, m := range append(slices.Clone(a), b...) {
		for _, s := range m.Result.Sections {
			of := key{s.Operation, s.Name}
			if s.Answer == nil || slices.Contains(seen, of) {
				continue
			}
			seen = append(seen, of)
			lines = append(lines, fmt.Sprintf("%s: A: %s; B: %s", s.Title, answered(a, of), answered(b, of)))
		}
	}
	return lines
}

// answered returns text such as `database in 5 of 6 runs, not named in 1`.
func answered(runs []Measured, of key) string {
	var recorded []string
	for _, m := range runs {
		for _, s := range m.Result.Sections {
			if s.Answer != nil && of == (key{s.Operation, s.Name}) {
				recorded = append(recorded, cmp.Or(*s.Answer, "not named"))
			}
		}
	}
	if len(recorded) == 0 {
		return "not looked for"
	}
	groups := seq.Group(recorded, func(answer string) string { return answer })
	slices.SortStableFunc(groups, func(x, y []string) int { return len(y) - len(x) })
	parts := seq.Map(groups, func(same []string) string { return fmt.Sprintf("%s in %d", same[0], len(same)) })
	parts[0] += fmt.Sprintf(" of %d runs", len(recorded))
	return strings.Join(parts, ", ")
}
