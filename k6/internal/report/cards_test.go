// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestCardsLeadWithTheirOwnQuestion(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	wake := result.Operation{Name: "wake", Title: "Poll woken", Requests: 200, Success: 200, RatePerS: p(94.5),
		LatencyMS: &result.Latency{Count: 200, Avg: 6, Min: 1, P50: p(5.66), Max: 30}}
	direct := wake
	direct.Name = "wake_direct"
	moved := result.Operation{Name: "down", Title: "Down", Requests: 8, Success: 8, RatePerS: p(1114), Transfer: &result.Transfer{MbitPerS: p(4672)}}
	tunnels := result.Operation{Name: "open", Title: "Open", Requests: 20, Success: 20, LatencyMS: &result.Latency{Count: 1, Avg: 3, Max: 3.34}}
	refused := result.Operation{Name: "up", Title: "Up", Requests: 10, Success: 4, RatePerS: p(9), Errors: map[string]int64{"timeout": 1, "closed": 5}}
	control := refused
	control.Name, control.Success = "up_direct", 0
	failed := func(operation string) result.Threshold {
		return result.Threshold{Operation: operation, Metric: "operation_failed", Measured: "60% failed", Required: "at most 0%"}
	}
	slow := result.Threshold{Operation: "wake", Metric: "operation_ms", Measured: "P50 5.66 ms", Required: "at most 1 ms"}
	glanced := result.Section{Headline: &result.Glance{Value: "200", Of: "is the best queue"}}
	ops := func(all ...result.Operation) []result.Operation { return all }
	for name, c := range map[string]struct {
		verdict     string
		of          result.Result
		value, unit string
	}{
		"the first rate":            {"pass", result.Result{Operations: ops(wake)}, "94.5", "per second: Poll woken"},
		"a latency":                 {"pass", result.Result{Operations: ops(moved, wake), Headline: &result.Headline{Operation: "wake", Figure: "p50_ms"}}, "5.66 ms", "P50: Poll woken"},
		"Mbit/s":                    {"pass", result.Result{Operations: ops(wake, moved), Headline: &result.Headline{Operation: "down", Figure: "mbit_per_s"}}, "4,672", "Mbit/s: Down"},
		"no rate":                   {"pass", result.Result{Operations: ops(tunnels)}, "3.34 ms", "max: Open"},
		"what failed":               {"fail", result.Result{Operations: ops(wake, refused, control), Thresholds: []result.Threshold{failed("up")}}, "60%", "up failed: closed, timeout"},
		"a bound that is crossed":   {"fail", result.Result{Operations: ops(moved, wake, direct), Thresholds: []result.Threshold{slow}}, "P50 5.66 ms", "wake: at most 1 ms"},
		"failures that are allowed": {"inconclusive", result.Result{Operations: ops(wake, refused)}, "94.5", "per second: Poll woken"},
		"nothing measured":          {"inconclusive", result.Result{Operations: ops(result.Operation{Name: "x"})}, "", ""},
		"a section":                 {"pass", result.Result{Operations: ops(wake), Sections: []result.Section{{}, glanced}}, "200", "is the best queue"},
		"a section of a failure":    {"fail", result.Result{Operations: ops(wake), Sections: []result.Section{glanced}, Thresholds: []result.Threshold{slow}}, "P50 5.66 ms", "wake: at most 1 ms"},
		"a figure beside a section": {"pass", result.Result{Operations: ops(wake), Sections: []result.Section{glanced}, Headline: &result.Headline{Operation: "wake", Figure: "p50_ms"}}, "5.66 ms", "P50: Poll woken"},
	} {
		c.of.Run, c.of.Verdict = result.Run{System: "s", Scenario: "a"}, c.verdict
		got := cards(Set{Results: []result.Result{c.of}})[0]
		if got.Value != c.value || got.Unit != c.unit {
			t.Errorf("%s: %q %q, want %q %q", name, got.Value, got.Unit, c.value, c.unit)
		}
	}
}

func TestNoCardIsADash(t *testing.T) {
	page, err := HTML(fixture(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), `<div class="number">—`) {
		t.Error("a card leads with a dash")
	}
}
