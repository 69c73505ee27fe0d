// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

// killed is a data plane whose proxy ended during the run, with all consequences.
func killed() (Evidence, fake) {
	e := complete()
	e.Usage, e.Operations = usage(10, 50, 10, "signal 9"), nil
	e.Usage.Processes[0].Name = "proxy"
	e.Plan.Iterations, e.Counts.Iterations = p(24.0), 24
	metrics := fake{"probes_cut": record.Values{"count": 60}}
	for n := range 24 {
		name := fmt.Sprintf("up_%d", n)
		e.Operations = append(e.Operations, Operation{Name: name, Loop: "closed", Bounds: bounds(map[string]float64{"p(95)": 5, "failed": 0, "errors": 0})})
		metrics["operation_failed{operation:"+name+"}"] = record.Values{"rate": 1, "passes": 50, "fails": 0}
		metrics["operation_errors{operation:"+name+"}"] = record.Values{"count": 50}
		metrics["operation_errors{operation:"+name+",kind:connection_refused}"] = record.Values{"count": 50}
	}
	return e, metrics
}

func TestTheCauseComesFirstAndWhatFollowsFromItIsOneLineOfEachKind(t *testing.T) {
	e, metrics := killed()
	j := judged(t, e, metrics)
	want := []result.Reason{
		{Role: "cause", Kind: "process", Count: 1, Text: "processes: proxy ended in mid-run (signal 9)"},
		{Role: "cause", Kind: "probe", Count: 1, Text: "probes: 60 ended early: the log says why"},
		{Role: "consequence", Kind: "error", Count: 24, Text: "up_0 and 23 more operations: 1,200 × connection_refused: nothing accepted the connection: the target is down or died in mid-run"},
		{Role: "consequence", Kind: "threshold", Count: 72, Text: "up_0: 0 successes, at least 1 (and 71 more thresholds)"},
		{Role: "consequence", Kind: "samples", Count: 24, Text: "samples: up_0: 0 samples are too few for a threshold on P95 (and 23 more operations)"},
	}
	for i, r := range j.Reasons {
		if i >= len(want) || r.Role != want[i].Role || r.Kind != want[i].Kind || r.Text != want[i].Text {
			t.Errorf("%+v", r)
			continue
		}
		if r.Count == 1 && r.All != nil || r.Count > 1 && len(r.All) != r.Count {
			t.Errorf("%s: %d of %d are kept word for word", r.Kind, len(r.All), r.Count)
		}
		if r.Count != want[i].Count {
			t.Errorf("%s: %d, want %d", r.Kind, r.Count, want[i].Count)
		}
	}
	if len(j.Reasons) != len(want) || j.Verdict != result.Fail {
		t.Errorf("%s, %d reasons", j.Verdict, len(j.Reasons))
	}
}

func TestOfTheReasonsThatAreFoldedNoneIsLostAndEachIsKeptWordForWord(t *testing.T) {
	e, metrics := killed()
	j := judged(t, e, metrics)
	var each []string
	for _, r := range decide(j.Thresholds, j.Validity, j.Operations, j.Controls).reasons {
		each = append(each, r.text)
	}
	if len(each) <= 120 {
		t.Errorf("%d reasons", len(each))
	}
	kept := strings.Split(reasonsOf(j), "\n")
	slices.Sort(each)
	slices.Sort(kept)
	if !slices.Equal(kept, each) {
		t.Errorf("%q, want %q", kept, each)
	}
}

func failed(name, operation, mend string) reason {
	return reason{kind: "error", name: name, text: fmt.Sprintf("%s: 1 × %s in 9 requests: why", operation, name), failed: &failure{operation, mend, 1}}
}

func TestAnInterruptComesBeforeWhatItCutAndErrorsOfTwoKindsAreNotOne(t *testing.T) {
	var got []string
	for _, r := range fold([]reason{
		failed("timeout", "a", "the target did not answer in time"), failed("closed", "a", "why"), failed("timeout", "b", "the target did not answer in time"),
		because("probe", "probes: 1 ended early"), because("interrupt", "complete: 3 of 9 iterations: ended early"),
	}) {
		got = append(got, r.Kind+" "+r.Text)
	}
	if !slices.Equal(got, []string{
		"interrupt complete: 3 of 9 iterations: ended early",
		"probe probes: 1 ended early",
		"error a and 1 more operation: 2 × timeout: the target did not answer in time",
		"error a: 1 × closed in 9 requests: why",
	}) {
		t.Errorf("%q", got)
	}
}

func TestErrorsBlameTheProxyWhereTheSameWithoutItWasClean(t *testing.T) {
	texts := func(direct map[string]int64, controls []result.Control) (all []string) {
		for _, r := range errorReasons([]result.Operation{
			{Name: "tcp", Requests: 9, Errors: map[string]int64{"connection_reset": 3, "corrupted": 1}}, {Name: "tcp_direct", Requests: 9, Errors: direct},
		}, controls) {
			all = append(all, r.text)
		}
		return all
	}
	controls := []result.Control{{Operation: "tcp", Control: "tcp_direct"}}
	if got := texts(nil, controls); !slices.Equal(got, []string{
		"tcp: 3 × connection_reset in 9 requests: the proxy reset connections; no direct connection was reset",
		"tcp: 1 × corrupted in 9 requests: the payload that came back differs from what was sent",
	}) {
		t.Errorf("%q", got)
	}
	const target = ": the target reset connections"
	if got := texts(map[string]int64{"connection_reset": 1}, controls); !strings.HasSuffix(got[0], target) {
		t.Errorf("%q", got)
	}
	if got := texts(nil, nil); !strings.HasSuffix(got[0], target) {
		t.Errorf("%q", got)
	}
}

func TestEachKindHasAWordForMoreOfIt(t *testing.T) {
	for kind, words := range more {
		if words[0] == "" || words[1] == "" {
			t.Errorf("%s: %q", kind, words)
		}
	}
	for _, kind := range causes {
		if _, ok := more[kind]; !ok {
			t.Errorf("%s has none", kind)
		}
	}
}
