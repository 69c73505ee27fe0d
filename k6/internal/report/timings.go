// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// outside is the derived row of a breakdown.
const outside = "outside the route"

// componentTables are the reference documents' breakdowns: one for each operation, and where an operation
// has timings of two sources one for each, in the order of the result.
func componentTables(r result.Result) []Table {
	type group struct{ operation, source string }
	var groups []group
	tables := map[group]*Table{}
	for _, c := range r.Components {
		g := group{c.Operation, c.Source}
		t := tables[g]
		if t == nil {
			t = &Table{
				Title:   "Where the time goes: " + wholeOr(r, c.Operation),
				Head:    []string{"Component", "Calls", "Avg (ms)", "P95 (ms)", "P99 (ms)", "% of route", "% of latency"},
				Numbers: 1, State: -1,
			}
			if !slices.ContainsFunc(groups, func(other group) bool { return other.operation == c.Operation }) {
				tellBottleneck(t, r, c.Operation)
			}
			if c.Source == result.Prometheus {
				t.Title += " (Prometheus)"
				t.Notes = append(t.Notes, "From a histogram at the system's Prometheus address: percentiles are interpolated within its buckets.")
			}
			groups, tables[g] = append(groups, g), t
		}
		if c.Name == outside {
			t.Notes = append(t.Notes, "The route is what the system itself timed; outside of it are its queues and the way to it and back: "+
				"what the client waited for an answer less its route.")
		}
		t.Rows = append(t.Rows, []string{c.Name, format.Count(c.Calls), format.MS(c.AvgMS), format.MS(c.P95MS),
			format.MS(c.P99MS), format.Share(c.Share), format.Share(c.LatencyShare)})
	}
	var all []Table
	for _, g := range groups {
		all = append(all, *tables[g])
	}
	return all
}

// wholeOr is an operation's title, or that of the whole run.
func wholeOr(r result.Result, operation string) string {
	if operation == "" {
		return "the whole run"
	}
	return operationTitle(r, operation)
}

// tellBottleneck puts the sentence about an operation below its table.
func tellBottleneck(t *Table, r result.Result, operation string) {
	for _, b := range r.Bottlenecks {
		switch {
		case b.Operation != operation:
		case b.Component != nil:
			t.Finding = b.Reason
		default:
			t.Notes = append(t.Notes, b.Reason)
		}
	}
}

// bottleneckNotes are the sentences about operations that have no table of components.
func bottleneckNotes(r result.Result) []string {
	var notes []string
	for _, b := range r.Bottlenecks {
		if !slices.ContainsFunc(r.Components, func(c result.Component) bool { return c.Operation == b.Operation }) {
			notes = append(notes, wholeOr(r, b.Operation)+": "+b.Reason)
		}
	}
	return notes
}

// databaseTables are what the database says of its statements: all of them, then the largest.
func databaseTables(r result.Result) []Table {
	d := r.Database
	if d == nil {
		return nil
	}
	totals := Table{
		Title: "What the database did",
		Head: []string{"Requests", "Statements", "Per request", "Total (ms)", "Mean (ms)", "Rows examined",
			"% of route", "% of latency"},
		State: -1,
		Rows: [][]string{{format.Count(d.Requests), format.Count(d.Statements), decimals(d.StatementsPerRequest, 1, 1),
			format.MS(&d.TotalMS), format.MS(d.MeanMS), format.Count(d.RowsExamined), format.Share(d.RouteShare),
			format.Share(d.LatencyShare)}},
		Notes: []string{"By the database's own clock (" + d.Source + "): time within the database, without the way to it and back."},
	}
	statements := Table{
		Title: "Statements that took the most", Long: true,
		Head:    []string{"Statement", "Calls", "Total (ms)", "Mean (ms)", "Rows examined", "% of all"},
		Numbers: 1, State: -1,
	}
	for _, s := range d.Digests {
		statements.Rows = append(statements.Rows, []string{s.Text, format.Count(s.Calls), format.MS(&s.TotalMS),
			format.MS(s.MeanMS), format.Count(s.RowsExamined), format.Share(s.Share)})
	}
	return []Table{totals, statements}
}

// integrityTable is what clients were told beside what is stored.
func integrityTable(r result.Result) Table {
	t := Table{
		Title:   "Is the data right?",
		Head:    []string{"", "Check", "Asked", "Reported", "Found", "Detail"},
		Numbers: 3, Texts: 5, State: 0,
	}
	for _, c := range r.Integrity {
		t.Rows = append(t.Rows, []string{tick(c.OK), c.Check, askedOf(c.Source), count(c.Reported), count(c.Found), c.Detail})
	}
	return t
}

// askedOf says in words who was asked.
func askedOf(source string) string {
	switch source {
	case "sql":
		return "the database"
	case "api":
		return "the system's API"
	case "dns":
		return "the authoritative server"
	}
	return source
}

func count(n *int64) string {
	if n == nil {
		return format.None
	}
	return format.Count(*n)
}
