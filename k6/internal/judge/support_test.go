// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

// fake has metrics by names such as operation_ms{operation:send,step:0}.
type fake map[string]record.Values

func (f fake) Values(metric string, tags map[string]string) (record.Values, bool) {
	key := metric
	if operation, ok := tags["operation"]; ok {
		key += "{operation:" + operation
		for _, tag := range []string{"kind", "step"} {
			if value, ok := tags[tag]; ok {
				key += "," + tag + ":" + value
			}
		}
		key += "}"
	}
	values, ok := f[key]
	return values, ok
}

// with returns a copy with further values.
func (f fake) with(more fake) fake {
	all := fake{}
	for name, values := range f {
		all[name] = values
	}
	for name, values := range more {
		all[name] = values
	}
	return all
}

// sent has the metrics of the operation `send` with the given numbers of successes and failures.
func sent(success, failed float64) fake {
	return fake{
		"operation_ms{operation:send}":          {"count": success, "avg": 5, "min": 1, "med": 4, "p(90)": 8, "p(95)": 10, "p(99)": 20, "p(99.9)": 30, "max": 40},
		"operation_failed{operation:send}":      {"rate": failed / max(1, success+failed), "passes": failed, "fails": success},
		"operation_items{operation:send}":       {"count": success},
		"operation_clock_ms{operation:send}":    {"value": 1, "min": 1000, "max": 3000},
		"operation_lateness_ms{operation:send}": {"count": 0},
	}
}

func p[T any](value T) *T { return &value }

// bounds are a list of names and values.
func bounds(all map[string]float64) Bounds {
	made := Bounds{}
	for name, value := range all {
		made[name] = p(value)
	}
	return made
}

func sendOperation() Operation {
	return Operation{
		Name: "send", Title: "Send", Loop: "closed", LatencyIs: "from start to end", Least: p(1000.0),
		Bounds: bounds(map[string]float64{"failed": 0, "p(95)": 100}),
	}
}

// usage is the usage of a relay and a generator on two CPUs; exit "" means that the relay lives.
func usage(generatorPercent, busyPercent, relayPercent float64, exit string) *Usage {
	u := &Usage{DurationS: 2}
	u.Host.CPUs, u.Host.BusyPercent = p(2.0), p(busyPercent)
	u.Processes = []ProcessUsage{
		{Process: result.Process{Name: "relay", Role: "system", CPUS: 1, CPUPercent: relayPercent, PeakRSSBytes: 1e6}},
		{Process: result.Process{Name: "k6", Role: "generator", CPUS: 1, CPUPercent: generatorPercent, PeakRSSBytes: 1e6}},
	}
	if exit != "" {
		u.Processes[0].Exit = &exit
	}
	return u
}

// complete is the evidence of a run of 1,000 requests that ended as planned.
func complete() Evidence {
	e := Evidence{Run: json.RawMessage(`{"start":"1970-01-01T00:16:40Z"}`), LoadS: 2, SilentMS: 10_000, Usage: usage(40, 60, 50, "")}
	e.Operations = []Operation{sendOperation()}
	e.Plan.Iterations = p(1000.0)
	e.Counts.Iterations = 1000
	return e
}

func judged(t *testing.T, e Evidence, m Metrics) Judged {
	t.Helper()
	j, err := judge(e, m)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// reasonsOf returns all sentences, one line each.
func reasonsOf(j Judged) string {
	var all []string
	for _, r := range j.Reasons {
		if len(r.All) == 0 {
			all = append(all, r.Text)
		}
		all = append(all, r.All...)
	}
	return strings.Join(all, "\n")
}

func checkNamed(t *testing.T, j Judged, name string) result.Validity {
	t.Helper()
	for _, c := range j.Validity {
		if c.Check == name {
			return c
		}
	}
	t.Fatalf("no check %q", name)
	return result.Validity{}
}

// isJudgedFirst checks the verdict, and a part of the first reason.
func isJudgedFirst(t *testing.T, about string, j Judged, verdict, says string) {
	t.Helper()
	if j.Verdict != verdict || len(j.Reasons) == 0 || !strings.Contains(j.Reasons[0].Text, says) {
		t.Errorf("%s: %s, want %s, first for %q:\n%s", about, j.Verdict, verdict, says, reasonsOf(j))
	}
}

// isJudged checks the verdict, and a part of the reasons.
func isJudged(t *testing.T, about string, j Judged, verdict, says string) {
	t.Helper()
	if j.Verdict != verdict || !strings.Contains(reasonsOf(j), says) {
		t.Errorf("%s: %s, want %s, for %q:\n%s", about, j.Verdict, verdict, says, reasonsOf(j))
	}
}
