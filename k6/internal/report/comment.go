// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"

	"windtunnel/k6/internal/comment"
	"windtunnel/k6/internal/result"
)

// Comment is a pull request's comment about a run, with the name of its gate. For the protocol matrix with a candidate
// it shows the comparison, otherwise the scenarios and their verdicts.
func Comment(name string, set Set) comment.Comment {
	c := comment.Comment{Name: name, Verdict: set.Verdict(), Table: comment.Table{Head: []string{"Scenario", "Verdict"}}}
	for _, e := range set.Entries() {
		reasons := result.Texts(e.Reasons)
		if c.Why == "" && len(reasons) > 0 {
			c.Why = e.Name + ": " + reasons[0]
		}
		c.Table.Rows = append(c.Table.Rows, []comment.Cell{{e.Name}, {e.Outcome}})
		if e.Result == nil {
			continue
		}
		c.Facts = append(c.Facts, fmt.Sprintf("%s, %s", e.Name, e.Result.Run.Profile))
		if len(reasons) > 0 {
			c.Folds = append(c.Folds, comment.Fold{Title: e.Name + ": reasons", Lines: reasons})
		}
		for _, s := range e.Result.Sections {
			if s.Name == "comparison" {
				c.Table = forPhone(s)
			}
			t := sectionTable(s)
			c.Folds = append(c.Folds, comment.Fold{Title: e.Name + ": " + t.Title, Lines: t.Notes, Table: comment.Table{Head: t.Head, Rows: comment.Cells(t.Rows), Numeric: t.Numeric}})
		}
		t := resultsTable(*e.Result, Options{})
		c.Folds = append(c.Folds, comment.Fold{Title: e.Name + ": " + t.Title, Table: comment.Table{Head: t.Head, Rows: comment.Cells(t.Rows), Numeric: t.Numeric}})
	}
	if c.Why == "" {
		c.Why = "each threshold and each target is met"
	}
	return c
}

// forPhone is the matrix's comparison in three narrow columns: the protocol with the outcome of its targets, and its two
// main ratios.
func forPhone(s result.Section) comment.Table {
	t := comment.Table{Head: []string{"Protocol", "Throughput", "CPU"}, Numeric: func(column int) bool { return column > 0 }}
	text := func(row []result.Cell, column string) string {
		if i := s.Place(column); i >= 0 {
			return cellText(s.Columns[i], row[i])
		}
		return ""
	}
	for _, row := range s.Rows {
		t.Rows = append(t.Rows, []comment.Cell{{text(row, "row"), text(row, "targets")}, {text(row, "throughput")}, {text(row, "cpu")}})
	}
	return t
}
