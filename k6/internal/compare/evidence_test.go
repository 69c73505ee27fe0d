// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

// TestWhereTheTimeWent has a component and a process that take twice the time, while the operation does not.
func TestWhereTheTimeWent(t *testing.T) {
	q := pairsOf(12, noise(21), noise(22))
	parts := func(name, operation string, answer *string, times map[string]float64) result.Section {
		s := result.Section{Name: name, Title: "Time of " + name, Operation: operation, Answer: answer,
			Columns: []result.Column{{Name: "part", Title: "Part", Unit: "text"}, {Name: "avg_ms", Title: "Avg", Unit: "ms", Compare: "lower"}, {Name: "max_ms", Title: "Max", Unit: "ms", Compare: "lower"}}}
		for _, part := range slices.Sorted(maps.Keys(times)) {
			s.Rows = append(s.Rows, []result.Cell{{Text: &part}, {Value: p(times[part])}, {Value: p(2 * times[part])}})
		}
		return s
	}
	tell := func(m *Measured, factor, i float64) {
		r := m.Result
		off := 1 + 0.001*i
		r.Sections = []result.Section{
			parts("component", "tcp", new("database"), map[string]float64{"route": 0.8 * off, "database": 0.3 * factor * off}),
			parts("prometheus", "", nil, map[string]float64{"database": 0.31 * factor * off}),
			{Name: "database", Title: "The database", Columns: []result.Column{{Name: "requests", Title: "Requests", Unit: "count"}, {Name: "ms_per_request", Title: "time per request", Unit: "ms", Compare: "lower"}},
				Rows: [][]result.Cell{{{Value: p(2000)}, {Value: p(0.2 * factor)}}}},
		}
		r.Processes = append(r.Processes, result.Process{Name: "mariadb", Role: "system", CPUS: 0.1 * factor}, result.Process{Name: "k6", Role: "generator", CPUS: 1})
	}
	for i := range q.A {
		tell(&q.A[i], 1, float64(i))
		tell(&q.B[i], 2, float64(i))
	}
	q.A[1].Result.Sections[0].Answer = new("")
	q.A[2].Result.Sections[0].Answer = nil
	own := &q.B[0].Result.Sections[0]
	own.Rows = append(own.Rows, []result.Cell{{Text: new("cache")}, {Value: p(1)}, {}})
	q.B[0].Result.Processes = append(q.B[0].Result.Processes, result.Process{Name: "redis", Role: "system"})
	c := Make(q)
	valid(t, c)
	if c.ExitCode() != exit.Pass {
		t.Errorf("%v", c.Reasons)
	}
	for _, k := range []key{{"tcp", "component.database"}, {"tcp", "component.database.max_ms"}, {"", "prometheus.database"}, {"", "database.ms_per_request"}, {"", "process.mariadb"}} {
		if m := c.rowOf(t, k.operation, k.name); m.Judgement != Worse || m.Gate || m.Change.Lo == nil || *m.P > 0.01 {
			t.Errorf("%+v", m)
		}
	}
	if m := c.rowOf(t, "", "database.ms_per_request"); m.A.Median != 0.2 || m.B.Median != 0.4 {
		t.Errorf("%+v", m)
	}
	text := c.Markdown()
	judged, where, _ := strings.Cut(text, "## Where the time went")
	for _, part := range []string{"| TCP: database (ms) | 0.3", "| TCP: database, Max (ms) | 0.6", "| Time of prometheus: database (ms) | 0.31", "| mariadb CPU (s) | 0.100 |", "| The database: time per request (ms) | 0.200",
		"- Time of component: A: database in 10 of 11 runs, not named in 1; B: database in 12 of 12 runs", "only B has: TCP: cache"} {
		if !strings.Contains(where, part) || strings.Contains(judged, part) {
			t.Errorf("no %q in\n%s", part, where)
		}
	}
	for _, part := range []string{"redis", "k6 CPU"} {
		if strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
	if strings.Contains(c.counts(), "worse") {
		t.Error(c.counts())
	}
}

func TestNoEvidenceNoHeading(t *testing.T) {
	q := pairsOf(6, noise(1), noise(2))
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			runs[i].Result.Processes = nil
		}
	}
	if text := Make(q).Markdown(); strings.Contains(text, "Where the time went") {
		t.Errorf("%s", text)
	}
}
