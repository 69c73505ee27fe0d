// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
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
	isJudgedFirst(t, "http_429", j, result.Fail, "send: 880 × http_429 in 1000 requests: the target limited the rate")
	if errors := j.Operations[0].Errors; len(errors) != 1 || errors["http_429"] != 880 {
		t.Error(errors)
	}
}

func TestNoSampleIsNeverAPass(t *testing.T) {
	j := judged(t, complete(), sent(0, 0))
	if j.Verdict == result.Pass || j.Operations[0].LatencyMS != nil || j.Operations[0].RatePerS != nil {
		t.Errorf("%s %+v", j.Verdict, j.Operations[0])
	}
	latency := slices.IndexFunc(j.Thresholds, func(line result.Threshold) bool { return line.Unit == "ms" })
	if latency < 0 || j.Thresholds[latency].Value != nil {
		t.Errorf("%+v", j.Thresholds)
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
	j := judged(t, e, sent(1000, 0))
	if reasonsOf(j) != "send: P95 10.0 ms, at most 5 ms" || j.Verdict != result.Fail {
		t.Errorf("%s: %s", j.Verdict, reasonsOf(j))
	}
	for least, verdict := range map[float64]string{499: result.Pass, 501: result.Fail} {
		e := complete()
		e.Operations[0].Bounds = bounds(map[string]float64{"failed": 0, "rate": least})
		isJudged(t, "rate", judged(t, e, sent(1000, 0)), verdict, "")
	}
}

func TestLostDataFailsARunWhateverItsFiguresAreButNotAnInterruptedOne(t *testing.T) {
	of := func(found *int64, iterations float64) Judged {
		e := complete()
		e.Facts = []Fact{{Check: "users", Source: "sql", Found: said(found), Reported: said(p(int64(2)))}}
		e.Counts.Iterations = iterations
		return judged(t, e, sent(1000, 0))
	}
	lost, whole := p(int64(1)), p(int64(2))
	isJudged(t, "lost", of(lost, 1000), result.Fail, "users: 1 found, 2 reported")
	if reasons := of(lost, 1000).Reasons; len(reasons) != 1 || reasons[0].Kind != "integrity" {
		t.Errorf("it is the only reason: %+v", reasons)
	}
	isJudged(t, "not counted", of(nil, 1000), result.Inconclusive, "users: could not be counted")
	isJudged(t, "interrupted", of(lost, 300), result.Inconclusive, "complete: 300 of 1000")
	isJudged(t, "whole", of(whole, 1000), result.Pass, "")
	e := complete()
	e.Facts = []Fact{{Check: "users", Source: "sql", Found: said(lost), Reported: said(whole)}}
	limited := sent(1000, 0).with(fake{"operation_errors{operation:send,kind:too_many_files}": {"count": 1}})
	isJudged(t, "lost, and the generator met a limit", judged(t, e, limited), result.Fail, "users: 1 found, 2 reported")
	if cut := of(nil, 300); !strings.HasPrefix(reasonsOf(cut), "complete: ") || !strings.HasSuffix(reasonsOf(cut), "\nusers: could not be counted") {
		t.Errorf("the cause does not come first: %s", reasonsOf(cut))
	}
}

func TestLostDataIsToldBeforeTheRestAndWhatCouldNotBeCountedAfterIt(t *testing.T) {
	one := func(ok *bool) []result.Integrity { return []result.Integrity{{Check: "users", OK: ok, Detail: "x"}} }
	partial := opinion{verdict: result.Inconclusive, reasons: []reason{because("interrupt", "cut")}}
	interrupted := []result.Validity{*check("complete", "interrupt", false, "")}
	for _, c := range []struct {
		about   string
		found   opinion
		ok      *bool
		checks  []result.Validity
		verdict string
		texts   []string
	}{
		{"lost", opinion{verdict: result.Pass}, p(false), nil, result.Fail, []string{"users: x"}},
		{"not counted", opinion{verdict: result.Pass}, nil, nil, result.Inconclusive, []string{"users: x"}},
		{"not counted where it failed", opinion{verdict: result.Fail}, nil, nil, result.Fail, []string{"users: x"}},
		{"lost by an interrupted run", partial, p(false), interrupted, result.Inconclusive, []string{"users: x", "cut"}},
		{"not counted by an interrupted run", partial, nil, interrupted, result.Inconclusive, []string{"cut", "users: x"}},
		{"whole", partial, p(true), nil, result.Inconclusive, []string{"cut"}},
	} {
		found := withIntegrity(c.found, one(c.ok), c.checks)
		var texts []string
		for _, r := range found.reasons {
			texts = append(texts, r.text)
		}
		if found.verdict != c.verdict || !slices.Equal(texts, c.texts) {
			t.Errorf("%s: %s %q, want %s %q", c.about, found.verdict, texts, c.verdict, c.texts)
		}
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

func TestWhatNobodyCouldLookAtIsNoZero(t *testing.T) {
	e := complete()
	e.Leftovers, e.RemoveWith = "users of the run", "the command"
	for _, c := range []struct {
		left, unknown float64
		want          string
	}{
		{3, 0, "3 could not be removed from the target: users of the run; this removes them: the command"},
		{37, 1, "up to 37 may remain on the target, which could not be queried: users of the run; this removes them: the command"},
		{0, 1, "the leftovers on the target are unknown, because the target could not be queried: users of the run; this removes them: the command"},
	} {
		j := judged(t, e, sent(1000, 0).with(fake{"cleanup_left": {"count": c.left}, "cleanup_unknown": {"count": c.unknown}}))
		if j.Leftovers == nil || j.Leftovers.Text() != c.want || j.Leftovers.Known != (c.unknown == 0) || j.Notes[0] != c.want {
			t.Errorf("%+v: %+v %q", c, j.Leftovers, j.Notes)
		}
	}
	if j := judged(t, e, sent(1000, 0)); j.Leftovers != nil {
		t.Error(j.Leftovers)
	}
}

func TestWhatCameBackIsInTheReason(t *testing.T) {
	r := record.New()
	for detail, count := range map[string]float64{"HTTP 202": 3, "HTTP 204": 5, "HTTP 205": 2, "HTTP 206": 1} {
		r.Series("operation_error_details", metrics.Counter, map[string]string{"operation": "send", "kind": "http_other", "detail": detail}).Add(count)
	}
	details := detailsOf(r, "send", map[string]int64{"http_other": 11})
	if len(details) != 4 || details[0] != (result.ErrorDetail{Kind: "http_other", Detail: "HTTP 204", Count: 5}) {
		t.Error(details)
	}
	if got := received(details, "http_other"); got != " (received: 5 × HTTP 204; 3 × HTTP 202; 2 × HTTP 205; 1 others)" {
		t.Error(got)
	}
	if got := received(details, "timeout"); got != "" {
		t.Error(got)
	}
}

func TestEachProcessHasWhatItDidBeforeTheLoadAndAfterIt(t *testing.T) {
	at := func(name string, cpu float64) AtRest {
		return AtRest{Name: name, AtRest: result.AtRest{CPUPercent: cpu, WakeupsPerSec: 7}}
	}
	text, _ := json.Marshal(restOf([]AtRest{at("a", 1), at("b", 2)}, []AtRest{at("a", 99)}))
	if string(text) != `[{"name":"a","before":{"cpu_percent":1,"wakeups_per_s":7},"after":{"cpu_percent":99,"wakeups_per_s":7}},`+
		`{"name":"b","before":{"cpu_percent":2,"wakeups_per_s":7},"after":null}]` {
		t.Errorf("%s", text)
	}
	if restOf(nil, nil) != nil || restOf(nil, []AtRest{at("a", 1)})[0].Before != nil {
		t.Error("nobody looked before")
	}
}

const someRun = `{"id":"r","start":"2026-11-23T00:00:00Z","end":"2026-11-23T00:00:02Z","duration_s":2,"system":"pulsar","scenario":"ingest",
"title":"t","profile":"smoke","environment":"local","target":"http://127.0.0.1","parameters":{},"testbed":null,"host":null,"versions":{"windtunnel":"0"}}`

func TestAResultIsValidByItsSchema(t *testing.T) {
	e := complete()
	e.Run, e.Facts = json.RawMessage(someRun), []Fact{{Check: "users", Source: "api", Reported: said(p(int64(1)))}}
	e.RestBefore = []AtRest{{Name: "relay"}}
	e.Usage.Whole = &result.WindowCPU{WindowS: 4, QuietS: 2, SystemS: 1}
	e.CPUs = []Sample{{AtUnixMS: 1, SpanS: 1}}
	e.Placement = &result.Placement{ProbeCPUs: "1"}
	e.Operations[0].Items, e.Operations[0].Primary = "messages", "p50"
	e.Sections = []result.Section{shown(`{"name": "waits", "title": "Waits", "columns": [{"name": "of", "title": "Of", "unit": "text"},
		{"name": "ms", "title": "Wait", "unit": "ms", "digits": 1, "print": "value", "compare": "lower"}, {"name": "ok", "title": "", "unit": "ok"}],
		"rows": [["send", {"operation": "send", "figure": "p50_ms"}, true], ["other", {"value": 1, "low": null, "high": 2, "significant": true}, null]],
		"finding": "It waits.", "answer": "", "headline": {"value": "1", "of": "wait"}, "plot": {"kind": "bars", "x": "of", "y": ["ms"]}}`)}
	for about, metrics := range map[string]fake{
		"pass": sent(1000, 0), "fail": sent(1, 999).with(fake{"operation_errors{operation:send,kind:timeout}": {"count": 999}}), "nothing": sent(0, 0),
		"probe": sent(1000, 0).with(fake{"operation_active_s{operation:send}": {"count": 2}, "operation_bytes{operation:send}": {"count": 9}}),
	} {
		if problems, text := problemsOf(t, judged(t, e, metrics)); len(problems) > 0 {
			t.Errorf("%s: %v\n%s", about, problems, text)
		}
	}
}

func TestAResultOfALimitWithControlsAndNeighboursIsValidByItsSchema(t *testing.T) {
	d, metrics := steps(40)
	e := complete()
	e.Declared, e.Run, e.LoadS, e.Placement = d, json.RawMessage(someRun), 30, &result.Placement{ProbeCPUs: "1"}
	e.Operations = []Operation{
		{Name: "send", Title: "Send", Loop: "open", LatencyIs: "x", Control: "direct", Bounds: d.Operations[0].Bounds},
		{Name: "direct", Title: "Direct", Loop: "closed", LatencyIs: "x"},
	}
	e.CPUs = make([]Sample, 1)
	if err := json.Unmarshal([]byte(`{"at_unix_ms":1795392001000,"span_s":1,"cpus":[{"cpu":1,"others_s":0.9,"steal_s":0}]}`), &e.CPUs[0]); err != nil {
		t.Fatal(err)
	}
	e.Usage.Repeated = []Part{{Name: "send", Dropped: true, DurationS: 0.25, ByCPU: []CPUUsage{cpuUsage(1, 1)}}}
	j := judged(t, e, metrics.with(sent(1000, 10)).with(probed("direct", 1, 1)))
	if len(j.Controls) != 1 || len(j.Disturbed) != 1 || len(j.Repeated) != 1 || len(j.Notes) != 3 || j.Verdict != result.Pass {
		t.Errorf("%+v", j)
	}
	if problems, text := problemsOf(t, j); len(problems) > 0 {
		t.Errorf("%v\n%s", problems, text)
	}
}

// problemsOf are the problems that the schema finds in the text of a result.
func problemsOf(t *testing.T, j Judged) ([]schema.Problem, string) {
	t.Helper()
	text, err := j.File()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Check(schema.Result, doc), string(text)
}

func TestTheNotesTellOfAHistogram(t *testing.T) {
	metrics := sent(record.MostExact, 0)
	if j := judged(t, complete(), metrics); len(j.Notes) != 0 {
		t.Error("as many as are kept one by one:", j.Notes)
	}
	metrics["operation_ms{operation:send}"]["error"] = record.Error
	if j := judged(t, complete(), metrics); len(j.Notes) != 1 || !strings.Contains(j.Notes[0], "send: too many samples to keep all: percentiles are accurate to 0.1 %") {
		t.Error(j.Notes)
	}
}
