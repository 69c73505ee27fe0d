// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestEachKindOfThresholdIsASentenceInPlainWords(t *testing.T) {
	for _, c := range []struct {
		metric, expression string
		value              *float64
		items, want        string
	}{
		{"operation_ms", "med<0.01", p(0.5609265), "", "P50 0.561 ms, at most 0.01 ms"},
		{"operation_ms", "p(99.9)<1000", p(1000.4), "", "P99.9 1,000.4 ms, at most 1,000 ms"},
		{"operation_ms", "avg<25", p(24.2), "", "average 24.2 ms, at most 25 ms"},
		{"operation_ms", "max<25", p(1398.2), "", "max 1,398 ms, at most 25 ms"},
		{"operation_ms", "p(95)<25", p(25.0), "", "P95 25.0 ms, below 25 ms"},
		{"operation_ms", "p(95)<25", nil, "", "P95: no sample, at most 25 ms"},
		{"operation_errors", "count<=0", p(65.0), "", "65 errors, at most 0"},
		{"operation_errors", "count<=0", p(1.0), "", "1 error, at most 0"},
		{"operation_anomalies", "count<=10", p(1234.0), "", "1,234 anomalies, at most 10"},
		{"operation_failed", "rate<=0", p(1.0), "", "100% failed, at most 0%"},
		{"operation_failed", "rate<=0.07", p(0.0700001), "", "7.00001% failed, at most 7%"},
		{"operation_items", "count>=80", p(25.0), "", "25 successes, at least 80"},
		{"operation_items", "count>=5000", p(4950.0), "messages", "4,950 messages, at least 5,000"},
		{"successes", "count>=1000", p(990.0), "", "990 successes, at least 1,000"},
		{"rate", "rate>=500", p(499.96), "", "rate 499.96/s, at least 500/s"},
		{"rate", "rate>=500", nil, "", "rate: no sample, at least 500/s"},
	} {
		if got := sentence(inWords(result.Threshold{Metric: c.metric, Expression: c.expression, Value: c.value}, c.items)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.metric, c.expression, got, c.want)
		}
	}
}

func TestEveryLatencyBoundOfK6ComesWithACount(t *testing.T) {
	d := Declared{Plan: Plan{Iterations: p(1000.0)}, Operations: []Operation{
		{Name: "send", Least: p(1000.0), Bounds: bounds(map[string]float64{"p(50)": 50, "p(95)": 100, "failed": 0, "errors": 0, "rate": 5})},
		{Name: "poll", Least: p(7.0), Uncounted: true},
		{Name: "look", Optional: true, Bounds: bounds(map[string]float64{"failed": 1})},
		{Name: "most", Least: p(1000.0), Bounds: bounds(map[string]float64{"failed": 0.0015})},
	}}
	text, _ := json.Marshal(d.Thresholds())
	if string(text) != `{"iterations{operation:poll}":["count\u003e=7"],"operation_errors{operation:send}":["count\u003c=0"],`+
		`"operation_failed{operation:most}":["rate\u003c=0.0015"],"operation_failed{operation:send}":["rate\u003c=0"],`+
		`"operation_items{operation:most}":["count\u003e=998"],"operation_items{operation:send}":["count\u003e=1000"],`+
		`"operation_ms{operation:send}":["med\u003c50","p(95)\u003c100"]}` {
		t.Errorf("%s", text)
	}
	d.Plan.Iterations = nil
	if least := d.leastItems(d.Operations[0]); least != 1 {
		t.Errorf("time bounds it: %g", least)
	}
}

func TestAStepEndsARunOnlyBeyondDoubt(t *testing.T) {
	d := Declared{Steps: &Steps{Seconds: 15, Loads: []string{"a", "b"}}, Operations: []Operation{
		{Name: "send", Bounds: bounds(map[string]float64{"p(95)": 100, "failed": 0})}, {Name: "look"},
	}}
	text, _ := json.Marshal(d.Thresholds())
	if string(text) != `{"operation_failed{operation:look,step:0}":[{"threshold":"rate\u003c=0.5","abortOnFail":true,"delayAbortEval":"5s"}],`+
		`"operation_failed{operation:look,step:1}":[{"threshold":"rate\u003c=0.5","abortOnFail":true,"delayAbortEval":"5s"}],`+
		`"operation_failed{operation:send,step:0}":[{"threshold":"rate\u003c=0.5","abortOnFail":true,"delayAbortEval":"5s"}],`+
		`"operation_failed{operation:send,step:1}":[{"threshold":"rate\u003c=0.5","abortOnFail":true,"delayAbortEval":"5s"}],`+
		`"operation_ms{operation:send,step:0}":[{"threshold":"med\u003c100","abortOnFail":true,"delayAbortEval":"5s"}],`+
		`"operation_ms{operation:send,step:1}":[{"threshold":"med\u003c100","abortOnFail":true,"delayAbortEval":"5s"}]}` {
		t.Errorf("%s", text)
	}
}

func TestWhereK6CountsIterationsTheSuccessesAmongThemAreJudged(t *testing.T) {
	e := complete()
	e.Operations[0].Uncounted, e.Operations[0].Bounds = true, nil
	line := judged(t, e, sent(990, 10)).Thresholds[0]
	if line.Metric != "successes" || *line.Value != 990 || line.OK {
		t.Errorf("%+v", line)
	}
}

func TestRequestsThatWereCutHaveFailed(t *testing.T) {
	e := complete()
	e.Operations[0].Least, e.Operations[0].Bounds = p(1.0), bounds(map[string]float64{"failed": 0.5})
	for begun, verdict := range map[float64]string{1999: result.Pass, 2001: result.Fail} {
		j := judged(t, e, sent(1000, 0).with(fake{"operation_begun{operation:send}": {"count": begun}}))
		isJudged(t, "cut", j, verdict, "")
	}
}

func TestAWaitThroughTheProxyThatIsGrosslyLongerThanWithoutItFails(t *testing.T) {
	row := func(p50 *float64) result.Operation {
		return result.Operation{Name: "handshake", LatencyMS: &result.Latency{P50: p50}}
	}
	for _, c := range []struct {
		own, direct float64
		ok          bool
		expression  string
		sentence    string
	}{
		{47, 0.05, false, "med<20", "P50 47.0 ms, at most 20 ms"},
		{19, 0.05, true, "med<20", "P50 19.0 ms, at most 20 ms"},
		// Over a path of 30 ms, twenty times the wait without the proxy.
		{61, 30, true, "med<600", "P50 61.0 ms, at most 600 ms"},
	} {
		lines := againstControl(row(&c.own), row(&c.direct))
		if len(lines) != 1 || lines[0].OK != c.ok || lines[0].Expression != c.expression || sentence(lines[0]) != c.sentence {
			t.Errorf("%+v", lines)
		}
	}
	if len(againstControl(row(nil), row(p(1.0)))) != 0 || len(againstControl(row(p(1.0)), row(nil))) != 0 {
		t.Error("what was not measured is not judged")
	}
	e := complete()
	e.Operations = []Operation{{Name: "send", Loop: "closed", Control: "direct", AgainstControl: true}, {Name: "direct", Loop: "closed", Optional: true}}
	metrics := sent(1000, 0).with(fake{"operation_ms{operation:direct}": {"count": 100, "med": 0.05}})
	metrics["operation_ms{operation:send}"]["med"] = 47
	isJudged(t, "the whole", judged(t, e, metrics), result.Fail, "send: P50 47.0 ms, at most 20 ms")
}

func TestOnlyAnOperationThatAsksForItIsJudgedByItsControl(t *testing.T) {
	e := complete()
	e.Operations = []Operation{{Name: "send", Loop: "closed", Control: "direct"}, {Name: "direct", Loop: "closed", Optional: true}}
	metrics := sent(1000, 0).with(fake{"operation_ms{operation:direct}": {"count": 100, "med": 0.05}})
	metrics["operation_ms{operation:send}"]["med"] = 47
	isJudged(t, "it does not", judged(t, e, metrics), result.Pass, "")
	e.Operations = []Operation{{Name: "send", Loop: "closed", Control: "gone", AgainstControl: true}}
	isJudged(t, "there is none", judged(t, e, metrics), result.Pass, "")
}

func TestABoundHoldsByItsOperator(t *testing.T) {
	for _, c := range []struct {
		operator            string
		below, equal, above bool
	}{{"<", true, false, false}, {"<=", true, true, false}, {">=", false, true, true}} {
		b := bounded{operator: c.operator, bound: 5}
		if b.holds(4) != c.below || b.holds(5) != c.equal || b.holds(6) != c.above {
			t.Errorf("%s: %t %t %t", c.operator, b.holds(4), b.holds(5), b.holds(6))
		}
	}
}

func TestARateThatIsTheLeastHoldsAndAnomaliesAreBoundToo(t *testing.T) {
	e := complete()
	e.Operations[0].Bounds = bounds(map[string]float64{"rate": 500, "anomalies": 2})
	isJudged(t, "just the least rate", judged(t, e, sent(1000, 0)), result.Pass, "")
	for found, verdict := range map[float64]string{2: result.Pass, 3: result.Fail} {
		isJudged(t, "anomalies", judged(t, e, sent(1000, 0).with(fake{"operation_anomalies{operation:send}": {"count": found}})), verdict, "")
	}
	isJudged(t, "no rate", judged(t, e, sent(0, 0)), result.Inconclusive, "send: rate: no sample, at least 500/s")
	e.Operations[0].Bounds = bounds(map[string]float64{"anomalies": 0})
	isJudged(t, "one anomaly where none may be", judged(t, e, sent(1000, 0).with(fake{"operation_anomalies{operation:send}": {"count": 1}})), result.Fail, "")
}
