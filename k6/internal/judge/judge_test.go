// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/schema"
)

func TestACleanRunPassesWithTheRateOverItsOwnWindow(t *testing.T) {
	j := judged(t, complete(), sent(1000, 0))
	if j.Verdict != result.Pass || len(j.Reasons) != 0 {
		t.Fatal(j.Verdict, reasonsOf(j))
	}
	row := j.Operations[0]
	if row.Requests != 1000 || row.Success != 1000 || row.WindowS != 2 || *row.RatePerS != 500 {
		t.Errorf("%+v", row)
	}
	for i, want := range []struct {
		expression, unit string
		value            float64
	}{{"count>=1000", "count", 1000}, {"p(95)<100", "ms", 10}, {"rate<=0", "share", 0}} {
		if line := j.Thresholds[i]; line.Expression != want.expression || line.Unit != want.unit || *line.Value != want.value || !line.OK {
			t.Errorf("%+v, want %+v", line, want)
		}
	}
	if len(j.Thresholds) != 3 || j.Processes[len(j.Processes)-1].Role != "total" {
		t.Errorf("%d thresholds, processes %+v", len(j.Thresholds), j.Processes)
	}
}

func TestRateLimitingFailsWithAReasonThatSaysSo(t *testing.T) {
	j := judged(t, complete(), sent(120, 880).with(fake{"operation_errors{operation:send,kind:http_429}": {"count": 880}}))
	isJudged(t, "http_429", j, result.Fail, "send: 880 × http_429 in 1000 requests: the target limited the rate")
	if errors := j.Operations[0].Errors; len(errors) != 1 || errors["http_429"] != 880 {
		t.Error(errors)
	}
}

func TestNoSampleIsNeverAPass(t *testing.T) {
	j := judged(t, complete(), sent(0, 0))
	if j.Verdict == result.Pass || j.Operations[0].LatencyMS != nil || j.Operations[0].RatePerS != nil {
		t.Errorf("%s %+v", j.Verdict, j.Operations[0])
	}
	for _, line := range j.Thresholds {
		if line.Unit == "ms" && line.Value != nil {
			t.Errorf("%+v", line)
		}
	}
}

func TestAnInterruptedRunIsInconclusiveWhateverItMeasured(t *testing.T) {
	e := complete()
	e.Counts.Iterations = 300
	isJudged(t, "interrupt", judged(t, e, sent(300, 0)), result.Inconclusive, "complete: 300 of 1000 iterations: ended early")
	e.Counts.Iterations, e.Plan.Iterations, e.Plan.Seconds = 1000, nil, 30
	e.Operations[0].Least = nil
	e.LoadS = 12
	isJudged(t, "12 of 30 s", judged(t, e, sent(1000, 0)), result.Inconclusive, "complete: 12.0 s of 30.0 s: ended early")
	e.LoadS = 30.2
	isJudged(t, "30.2 of 30 s", judged(t, e, sent(1000, 0)), result.Pass, "")
}

func TestACrossedBoundFailsAValidRun(t *testing.T) {
	e := complete()
	e.Operations[0].Bounds["p(95)"] = p(5.0)
	isJudged(t, "latency", judged(t, e, sent(1000, 0)), result.Fail, "send: P95 10.0 ms, at most 5 ms")
	for least, verdict := range map[float64]string{499: result.Pass, 501: result.Fail} {
		e := complete()
		e.Operations[0].Bounds = bounds(map[string]float64{"failed": 0, "rate": least})
		isJudged(t, "rate", judged(t, e, sent(1000, 0)), verdict, "")
	}
}

func TestLostDataFailsARunWhateverItsFiguresAreButNotAnInterruptedOne(t *testing.T) {
	lost := func(ok *bool) []result.Integrity {
		return []result.Integrity{{Check: "users", Reported: p(int64(2)), Found: p(int64(1)), OK: ok, Detail: "1 found, 2 reported", Source: "sql"}}
	}
	of := func(ok *bool, iterations float64) Judged {
		e := complete()
		e.Integrity, e.Counts.Iterations = lost(ok), iterations
		return judged(t, e, sent(1000, 0))
	}
	isJudged(t, "lost", of(p(false), 1000), result.Fail, "users: 1 found, 2 reported")
	isJudged(t, "not counted", of(nil, 1000), result.Inconclusive, "users: 1 found, 2 reported")
	isJudged(t, "interrupted", of(p(false), 300), result.Inconclusive, "complete: 300 of 1000")
	isJudged(t, "whole", of(p(true), 1000), result.Pass, "")
	if cut := of(nil, 300); !strings.HasPrefix(reasonsOf(cut), "complete: ") {
		t.Errorf("the cause does not come first: %s", reasonsOf(cut))
	}
}

func TestWhatCouldNotBeRemovedIsANote(t *testing.T) {
	e := complete()
	e.Leftovers, e.Notes = "topics of the run", []string{"the profile's own"}
	j := judged(t, e, sent(1000, 0).with(fake{"cleanup_left": {"count": 3}}))
	if len(j.Notes) != 2 || j.Notes[0] != "3 could not be removed from the target: topics of the run" || j.Notes[1] != "the profile's own" {
		t.Error(j.Notes)
	}
}

func TestEachProcessHasWhatItDidBeforeTheLoadAndAfterIt(t *testing.T) {
	at := func(name string, cpu float64) AtRest {
		return AtRest{Name: name, AtRest: result.AtRest{CPUPercent: cpu, WakeupsPerSec: 7}}
	}
	rest := restOf([]AtRest{at("a", 1), at("b", 2)}, []AtRest{at("a", 99)})
	if len(rest) != 2 || rest[0].Before.CPUPercent != 1 || rest[0].After.CPUPercent != 99 || rest[1].Before.CPUPercent != 2 || rest[1].After != nil {
		t.Errorf("%+v", rest)
	}
	if restOf(nil, nil) != nil || restOf(nil, []AtRest{at("a", 1)})[0].Before != nil {
		t.Error("nobody looked before")
	}
}

const run = `{"id":"r","start":"2026-11-23T00:00:00Z","end":"2026-11-23T00:00:02Z","duration_s":2,"system":"pulsar","scenario":"ingest",
"title":"t","profile":"smoke","environment":"local","target":"http://127.0.0.1","parameters":{},"testbed":null,"host":null,"versions":{"windtunnel":"0"}}`

func TestAResultIsValidByItsSchema(t *testing.T) {
	e := complete()
	e.Run, e.Integrity = json.RawMessage(run), []result.Integrity{}
	e.RestBefore = []AtRest{{Name: "relay"}}
	e.CPUs = []Sample{{AtUnixMS: 1, SpanS: 1}}
	e.Placement = &result.Placement{ProbeCPUs: "1"}
	e.Operations[0].Items, e.Operations[0].Primary = "messages", "p50"
	e.Sections = map[string]json.RawMessage{"tunnels": json.RawMessage(`[{"asked":1,"open":1,"open_all_s":1,"direct_open_all_s":1,"bytes_per_tunnel":null}]`)}
	for about, metrics := range map[string]fake{
		"pass": sent(1000, 0), "fail": sent(1, 999).with(fake{"operation_errors{operation:send,kind:timeout}": {"count": 999}}), "nothing": sent(0, 0),
		"probe": sent(1000, 0).with(fake{"operation_active_s{operation:send}": {"count": 2}, "operation_bytes{operation:send}": {"count": 9}}),
	} {
		text, err := judged(t, e, metrics).File()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if problems := schema.Check(schema.Result, doc); len(problems) > 0 {
			t.Errorf("%s: %v\n%s", about, problems, text)
		}
	}
}

func TestTheNotesTellOfAHistogram(t *testing.T) {
	metrics := sent(1000, 0)
	metrics["operation_ms{operation:send}"]["count"] = 20_000_000
	if j := judged(t, complete(), metrics); len(j.Notes) != 1 || !strings.Contains(j.Notes[0], "send: more samples than are kept one by one: its percentiles are within 0.1 %") {
		t.Error(j.Notes)
	}
}
