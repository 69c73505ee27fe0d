// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"windtunnel/k6/internal/junit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// TestJUnitIsRedExactlyWhereTheRunIs has a threshold that does not hold, with each outcome.
func TestJUnitIsRedExactlyWhereTheRunIs(t *testing.T) {
	for outcome, want := range map[string]struct{ failures, errors int }{
		run.Pass:         {0, 0}, // the profile breakpoint runs until a threshold fails
		run.Fail:         {2, 0},
		run.Inconclusive: {0, 1},
		run.SetupFailed:  {0, 1},
		run.Interrupted:  {0, 1},
		run.Planned:      {0, 1},
		run.Skipped:      {0, 1},
	} {
		measured := result.Result{Run: result.Run{System: "s", Scenario: "a"}, Verdict: outcome,
			Thresholds: []result.Threshold{{Operation: "op", Metric: "latency", Expression: "p(95)<25", Unit: "ms"}}}
		record := &run.Run{Scenarios: []run.Scenario{{System: "s", Scenario: "a", Outcome: outcome}}}
		data, err := JUnit(Set{record, []result.Result{measured}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var suites junit.Suites
		if err := xml.Unmarshal(data, &suites); err != nil {
			t.Fatal(err)
		}
		if suites.Failures != want.failures || suites.Errors != want.errors {
			t.Errorf("%s: %d failures, %d errors, want %v\n%s", outcome, suites.Failures, suites.Errors, want, data)
		}
		last := suites.Suites[0].Cases[1]
		if want.errors > 0 && (last.Name != "verdict" || last.Error == nil || last.Error.Type != outcome) {
			t.Errorf("%s: %+v", outcome, last)
		}
	}
}

func TestThresholdsAreToldInTheirOwnWords(t *testing.T) {
	value := 25.04
	set := Set{Results: []result.Result{{Run: result.Run{System: "s", Scenario: "a"}, Verdict: "fail",
		Thresholds: []result.Threshold{{Operation: "op", Metric: "operation_ms", Expression: "p(95)<25", Value: &value, Unit: "ms",
			Measured: "P95 25.04 ms", Required: "at most 25 ms"}}}}}
	for name, write := range map[string]func(Set, Options) ([]byte, error){"md": Markdown, "html": HTML, "xml": JUnit} {
		data, err := write(set, Options{})
		text := string(data)
		if err != nil || !strings.Contains(text, "P95 25.04 ms") || !strings.Contains(text, "at most 25 ms") || strings.Contains(text, "does not hold:") {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
	}
}
