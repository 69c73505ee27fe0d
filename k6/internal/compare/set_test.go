// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

// ofUsers makes pairs of a panel's scenario with one operation, which is slower by factors, without a control.
func ofUsers(scenario string, a, b func(int) float64) Request {
	q := pairsOf(12, a, b)
	q.Scenario, q.Folder = "panel/"+scenario, "panel-"+scenario
	q.SpecA, q.SpecB = "panel:driver=pymysql", "panel:driver=asyncmy"
	for _, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			r := runs[i].Result
			r.Run.System, r.Run.Scenario = "panel", scenario
			r.Operations = r.Operations[:1]
			r.Operations[0].Title, r.Operations[0].Transfer = "Change a user", nil
			runs[i].Scenario = q.Scenario
		}
	}
	return q
}

func TestSetTakesTheWorst(t *testing.T) {
	same, slower := func(s string) Request { return ofUsers(s, noise(1), noise(2)) }, func(s string) Request { return ofUsers(s, noise(3), times(1.3, noise(4))) }
	few := same("few")
	few.A, few.B, few.Planned = few.A[:2], few.B[:2], 2
	cut := same("cut")
	cut.Interrupted = true
	for name, c := range map[string]struct {
		of   []Request
		code int
		says string
	}{
		"all pass":         {[]Request{same("a"), same("b")}, exit.Pass, "verdict: pass, 2 of 2 scenarios pass"},
		"one inconclusive": {[]Request{same("a"), few}, exit.Inconclusive, "verdict: inconclusive, 1 of 2 scenarios pass"},
		"one fails":        {[]Request{few, slower("b"), same("c")}, exit.Fail, "  panel/b: Change a user rate is worse by more than 10 %: -2"},
		"one interrupted":  {[]Request{slower("a"), cut}, exit.Interrupted, "verdict: interrupted, 0 of 2 scenarios pass"},
		"one not begun":    {[]Request{same("a"), {Scenario: "panel/z", Folder: "panel-z", Planned: 12, Interrupted: true, Beds: noBeds}}, exit.Interrupted, "panel/z: nothing could be compared"},
	} {
		s := MakeSet(c.of)
		for _, p := range s.Parts {
			valid(t, p.Comparison)
		}
		if s.ExitCode() != c.code || !strings.Contains(s.Summary(), c.says) || strings.Contains(s.Summary(), "|") {
			t.Errorf("%s: %d\n%s", name, s.ExitCode(), s.Summary())
		}
	}
}

// TestSetReadsAsTheDocument uses the signs of the reference document: a rate that grows by half is +50 %, a latency that
// shrinks by a third is -33 %, and both are better.
func TestSetReadsAsTheDocument(t *testing.T) {
	one := func(int) float64 { return 1 }
	s := MakeSet([]Request{ofUsers("create", one, times(2.0/3, one)), ofUsers("enable", one, times(1.5, one))})
	table, _, _ := strings.Cut(s.Markdown(), "| Scenario |")
	for _, line := range []string{
		"| Metric | Baseline (panel:driver=pymysql) | Candidate (panel:driver=asyncmy) | Improvement | interval | p | judgement |",
		"| create: Change a user RPS | 1,000 | 1,500 | +50.00% | +50.00% to +50.00% | <0.001 | better, within (primary) |",
		"| enable: Change a user RPS | 1,000 | 666.7 | -33.33% | -33.33% to -33.33% | <0.001 | worse, beyond the bound |",
		"| create: Change a user avg latency | 1.00 ms | 0.667 ms | -33.33% | -33.33% to -33.33% | <0.001 | better |",
		"| create: Change a user P95 latency | 3.00 ms | 2.00 ms | -33.33% |",
		"| enable: Change a user success rate | 100% | 100% | 0.00 pp | 0.00 pp to 0.00 pp | 1.000 | no significant difference |",
	} {
		if !strings.Contains(table, strings.ReplaceAll(line, "<", "&lt;")) {
			t.Errorf("no %q in\n%s", line, table)
		}
	}
	if n := strings.Count(table, "\n| "); n != 1+2*4 {
		t.Errorf("%d rows\n%s", n, table)
	}
}

func TestSidesWithoutASpec(t *testing.T) {
	of := func(bedA, bedB *result.Testbed) Comparison {
		return Comparison{A: Side{Testbed: bedA}, B: Side{Testbed: bedB}}
	}
	bed := func(name string, queue float64) *result.Testbed {
		return &result.Testbed{Name: name, Variables: map[string]any{"queue": queue, "size": 1.0}}
	}
	for want, s := range map[string]Comparison{
		"pair:queue=1 and pair:queue=2": of(bed("pair", 1), bed("pair", 2)),
		"pair and pair":                 of(bed("pair", 1), bed("pair", 1)),
		"pair and other":                of(bed("pair", 1), bed("other", 2)),
		"A and other":                   of(nil, bed("other", 2)),
	} {
		if got := s.label("A") + " and " + s.label("B"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJudgedAnewAsOftenAsLookedAt: another gate on the same pairs must not spend the error probability of earlier looks
// again.
func TestJudgedAnewAsOftenAsLookedAt(t *testing.T) {
	dir := t.TempDir()
	if got := LooksOf(dir, 20); got != 3 { // at 12, at 18, and at the end
		t.Errorf("without a record %d", got)
	}
	q := pairsOf(18, noise(1), noise(2))
	q.Look.Number = 2
	if err := Make(q).Write(dir); err != nil {
		t.Fatal(err)
	}
	if got := LooksOf(dir, 18); got != 2 {
		t.Errorf("recorded %d", got)
	}
	alone, shared := Make(q), Make(Request{Look: difference.Look{Number: 2, Comparisons: 3}})
	if alone.Confidence < 0.99 || shared.Confidence != alone.Confidence {
		t.Errorf("%g and %g", alone.Confidence, shared.Confidence)
	}
}
