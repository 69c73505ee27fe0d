// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// integrityTable compares the answers to clients with the stored data.
func integrityTable(r result.Result) Table {
	t := Table{
		Title:   "Is the data right?",
		Head:    []string{"", "Check", "Asked", "Reported", "Found", "Detail"},
		Numbers: between(3, 5), State: 0,
	}
	for _, c := range r.Integrity {
		t.Rows = append(t.Rows, []string{tick(c.OK), c.Check, sourceText(c.Source), count(c.Reported), count(c.Found), c.Detail})
	}
	return t
}

// sourceText describes the source of the stored data in words.
func sourceText(source string) string {
	switch source {
	case "sql":
		return "the database"
	case "api":
		return "the system's API"
	case "dns":
		return "the authoritative server"
	case "far_end":
		return "the far end"
	}
	return source
}

func count(n *int64) string { return orNone(n, format.Count) }
