// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/result"
)

// TestWhereTheTimeWent has a component and a process that take twice as long, while the operation does not.
func TestWhereTheTimeWent(t *testing.T) {
	q := pairsOf(8, noise(21), noise(22))
	database := "database"
	tell := func(m *Measured, factor, i float64) {
		r := m.Result
		of := func(name, source string, avg float64) result.Component {
			return result.Component{Operation: "tcp", Name: name, Source: source, Calls: 2000, AvgMS: p(avg * (1 + 0.001*i))}
		}
		r.Components = []result.Component{of("route", result.ServerTiming, 0.8), of("database", result.ServerTiming, 0.3*factor),
			of("database", result.Prometheus, 0.31*factor), {Name: "store", Source: result.Prometheus, AvgMS: nil}}
		r.Database = &result.Database{Requests: 2000, TotalMS: 400 * factor}
		r.Processes = append(r.Processes, result.Process{Name: "mariadb", Role: "system", CPUS: 0.1 * factor}, result.Process{Name: "k6", Role: "generator", CPUS: 1})
		r.Bottlenecks = []result.Bottleneck{{Operation: "tcp", Component: &database}}
	}
	for i := range q.A {
		tell(&q.A[i], 1, float64(i))
		tell(&q.B[i], 2, float64(i))
	}
	q.A[1].Result.Bottlenecks[0].Component = nil
	q.A[2].Result.Bottlenecks = nil
	q.B[0].Result.Components = append(q.B[0].Result.Components, result.Component{Operation: "tcp", Name: "cache", Source: result.ServerTiming, AvgMS: p(1)})
	q.B[0].Result.Processes = append(q.B[0].Result.Processes, result.Process{Name: "redis", Role: "system"})
	c := Make(q)
	valid(t, c)
	if c.ExitCode() != exitcode.Pass {
		t.Errorf("%v", c.Reasons)
	}
	for _, k := range []key{{"tcp", "component.database"}, {"tcp", "prometheus.database"}, {"", "database.ms_per_request"}, {"", "process.mariadb"}} {
		if m := c.rowOf(t, k.operation, k.name); m.Judgement != Worse || m.Gate || m.Change.Lo == nil || *m.P > 0.01 {
			t.Errorf("%+v", m)
		}
	}
	if m := c.rowOf(t, "", "database.ms_per_request"); m.A.Median != 0.2 || m.B.Median != 0.4 {
		t.Errorf("%+v", m)
	}
	text := c.Markdown()
	judged, where, _ := strings.Cut(text, "## Where the time went")
	for _, part := range []string{"| TCP: database (ms) | 0.3", "| TCP: database (Prometheus) (ms) | 0.31", "| mariadb CPU (s) | 0.100 |", "| the database's own time per request (ms) | 0.200",
		"- TCP: the bottleneck of A is database in 6 of 7 runs, not named in 1; of B database in 8 of 8 runs", "only B has: TCP: cache"} {
		if !strings.Contains(where, part) || strings.Contains(judged, part) {
			t.Errorf("no %q in\n%s", part, where)
		}
	}
	for _, part := range []string{"redis", "store", "k6 CPU"} {
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
