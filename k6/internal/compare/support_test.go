// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/testbed"
)

func p(v float64) *float64 { return &v }

// operation has all its latencies and its rate scaled from 1 ms: slower by factor.
func operation(name string, factor float64) result.Operation {
	return result.Operation{Name: name, Title: strings.ToUpper(name), Loop: "closed", Requests: 2000, Success: 2000,
		Errors: map[string]int64{}, WindowS: 2 * factor, RatePerS: p(1000 / factor),
		Transfer: &result.Transfer{Bytes: 2048000, MbitPerS: p(8.192 / factor)},
		LatencyMS: &result.Latency{Count: 2000, Avg: factor, Min: factor / 2, P50: p(factor), P90: p(2 * factor), P95: p(3 * factor),
			P99: p(5 * factor), P999: p(9 * factor), Max: 10 * factor}}
}

// withErrors returns an operation in which n requests fail with a kind of error.
func withErrors(op result.Operation, kind string, n int64) result.Operation {
	op.Errors = map[string]int64{kind: n}
	return withSuccesses(op, op.Success-n)
}

// withSuccesses returns an operation with n successes in the same window, and consistent figures.
func withSuccesses(op result.Operation, n int64) result.Operation {
	share := float64(n) / float64(op.Success)
	op.Success, op.RatePerS = n, p(*op.RatePerS*share)
	if n == 0 {
		op.LatencyMS, op.Transfer = nil, nil
		return op
	}
	latency := *op.LatencyMS
	latency.Count, op.LatencyMS = n, &latency
	if op.Transfer != nil {
		op.Transfer = &result.Transfer{Bytes: n * 1024, MbitPerS: p(*op.Transfer.MbitPerS * share)}
	}
	return op
}

// oneRun is a run of a proxy that is slower by factor, with a start time.
func oneRun(second int, factor, control float64) *result.Result {
	yes := true
	r := &result.Result{Verdict: "pass", Validity: []result.Validity{{Check: "complete", OK: &yes}}, Operations: []result.Operation{operation("tcp", factor), operation("tcp_direct", control)},
		Processes: []result.Process{{Name: "total", Role: "total", CPUS: 0.2 * factor, PeakAnonBytes: new(int64(50 << 20))}}}
	start := time.Date(2026, 1, 2, 3, 0, second, 0, time.UTC)
	r.Run = result.Run{ID: fmt.Sprintf("r%d", second), Start: start, End: start.Add(time.Second), System: "dataplane", Scenario: "socks-tcp",
		Profile: "quick", Parameters: map[string]any{"payload_bytes": 1024.0},
		Testbed:   &result.Testbed{Name: "pair", Variables: map[string]any{"queue": 64.0, "socks_port": float64(second)}},
		Host:      &result.Host{OS: "o", Kernel: "k", CPUModel: "m", CPUs: new(2), MemoryBytes: new(int64(16 << 30))},
		Placement: &result.Placement{Name: "shared", ProbeCPUs: "1", EchoCPUs: "1", SystemCPUs: "1", Wait: "block"},
		Versions:  map[string]string{"windtunnel": "0.1.0", "proxy": "1"}}
	return r
}

// pairsOf makes n pairs in turns; a and b give the factor of the i-th run.
func pairsOf(n int, a, b func(i int) float64) Request {
	q := Request{Bounds: Bounds{WorseBy: 10}, Planned: n, SpecA: "pair", SpecB: "pair:queue=128", ID: "x", Beds: noBeds}
	for i := 1; i <= n; i++ {
		second := [2]int{}
		for place, side := range order(i, 1) {
			second[side] = 2*i + place
		}
		q.A = append(q.A, Measured{File: fmt.Sprintf("a%d", i), Outcome: "pass", Pair: i, Result: oneRun(second[0], a(i), 1)})
		q.B = append(q.B, Measured{File: fmt.Sprintf("b%d", i), Outcome: "pass", Pair: i, Result: oneRun(second[1], b(i), 1)})
	}
	return q
}

func noBeds(string) testbed.Testbed { return testbed.Testbed{} }

// noise is a factor around 1, up to 3 % higher or lower, the same in each run of the test.
func noise(seed uint64) func(int) float64 {
	source := rand.New(rand.NewPCG(seed, 1))
	return func(int) float64 { return 1 + 0.03*(2*source.Float64()-1) }
}

func times(factor float64, of func(int) float64) func(int) float64 {
	return func(i int) float64 { return factor * of(i) }
}

func (c Comparison) rowOf(t *testing.T, operation, name string) Metric {
	t.Helper()
	i := slices.IndexFunc(c.Metrics, func(m Metric) bool { return m.Operation == operation && m.Name == name })
	if i < 0 {
		t.Fatalf("no metric %s %s", operation, name)
	}
	return c.Metrics[i]
}

// valid checks a comparison against its own schema.
func valid(t *testing.T, c Comparison) {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if problems := schema.Check(schema.Comparison, doc); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	if text := c.Markdown(); strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
		t.Errorf("%s", text)
	}
}
