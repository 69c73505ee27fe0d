// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/result"
)

func cpuUsage(cpu int, others float64) CPUUsage {
	return CPUUsage{CPU: &cpu, SpanS: 2, OthersS: others}
}

func TestTheSecondsInWhichACPUOfThePlacementWasDisturbedAreTold(t *testing.T) {
	var samples []Sample
	for _, at := range []struct{ ms, others, steal float64 }{
		{100, 0.01, 0}, {900, 0, 0}, {1100, 0.06, 0}, {1200, 0.04, 0}, {2500, 0, 0.08}, {3100, 0.02, 0},
	} {
		var s Sample
		text, _ := json.Marshal(map[string]any{"at_unix_ms": 1_000_000 + at.ms, "span_s": 0.1, "cpus": []map[string]float64{
			{"cpu": 0, "others_s": 0.1, "steal_s": 0}, {"cpu": 1, "others_s": at.others, "steal_s": at.steal},
		}, "more": "than we know"})
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	found := disturbedSeconds(samples, &result.Placement{ProbeCPUs: "1", EchoCPUs: "1"}, time.UnixMilli(1_000_000))
	text, _ := json.Marshal(found)
	if string(text) != `[{"second":1,"cpu":1,"others_percent":50,"steal_percent":0},{"second":2,"cpu":1,"others_percent":0,"steal_percent":80}]` {
		t.Errorf("%s", text)
	}
}

func TestANeighbourOnACPUOfThePlacementMakesTheRunInconclusive(t *testing.T) {
	of := func(others float64) Judged {
		e := complete()
		e.Placement = &result.Placement{ProbeCPUs: "1", EchoCPUs: "1", SystemCPUs: "1"}
		e.Usage.Host.ByCPU = []CPUUsage{cpuUsage(0, 1.8), cpuUsage(1, others)}
		e.Usage.Host.ByCPU[1].StealS = 0.01
		return judged(t, e, sent(1000, 0))
	}
	isJudged(t, "5 %", of(0.1), result.Pass, "")
	isJudgedFirst(t, "45 %", of(0.9), result.Inconclusive, "neighbours: CPU 1: 45.0 % used by others, 0.5 % taken by the hypervisor; at most 10 %")
	if strings.Contains(reasonsOf(of(0.9)), "CPU 0") {
		t.Error("CPU 0 is nobody's matter")
	}
}

func TestMoreThanATenthOfACPUIsANeighbour(t *testing.T) {
	for others, disturbed := range map[float64]bool{0.19: false, 0.21: true} {
		if found := Disturbances([]CPUUsage{cpuUsage(1, others)}, &result.Placement{ProbeCPUs: "1"}); (len(found) > 0) != disturbed {
			t.Errorf("%g of 2 s: %+v", others, found)
		}
	}
}

func TestAFewTicksAreNoNeighbourAndWhereNothingIsPinnedAllCPUsAreOne(t *testing.T) {
	pinned := &result.Placement{ProbeCPUs: "0-1", SystemCPUs: "3"}
	if cpus := placed(pinned); !slices.Equal(cpus, []int{0, 1, 3}) {
		t.Error(cpus)
	}
	tick := CPUUsage{CPU: p(0), SpanS: 0.1, OthersS: 0.04}
	if found := Disturbances([]CPUUsage{tick}, pinned); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	all := []CPUUsage{cpuUsage(0, 1), cpuUsage(1, 0)}
	found := Disturbances(all, nil)
	if len(found) != 1 || found[0].CPU != nil || found[0].OthersPercent != 25 {
		t.Errorf("%+v", found)
	}
	if found := Disturbances([]CPUUsage{cpuUsage(0, 0.39), cpuUsage(1, 0)}, &result.Placement{}); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

func TestWhatWasThrownAwayIsToldWithItsReasonAndWhetherItHelped(t *testing.T) {
	part := func(name string, dropped bool, percent float64) Part {
		return Part{Name: name, Dropped: dropped, DurationS: 0.25, ByCPU: []CPUUsage{cpuUsage(1, percent/50), cpuUsage(0, 1.98)}}
	}
	repeated := repeatedOf([]Part{
		part("tcp, round 2", true, 40), part("tcp, round 2", true, 60), part("tcp, round 2", false, 2),
		part("tcp, round 3", true, 30), part("tcp, round 3", false, 30),
	}, &result.Placement{ProbeCPUs: "1"})
	text, _ := json.Marshal(repeated)
	if string(text) != `[{"part":"tcp, round 2","times":2,"thrown_away_s":0.5,"disturbed_by":[{"cpu":1,"others_percent":60,"steal_percent":0}],"settled":true},`+
		`{"part":"tcp, round 3","times":1,"thrown_away_s":0.25,"disturbed_by":[{"cpu":1,"others_percent":30,"steal_percent":0}],"settled":false}]` {
		t.Errorf("%s", text)
	}
	if line := repeatedLine(repeated); line != "2 parts were measured again because other programs used the CPUs: tcp, round 2 and 1 more; 1 of them disturbed to the end" {
		t.Error(line)
	}
	if found := repeatedOf([]Part{part("gone", true, 40)}, &result.Placement{ProbeCPUs: "1"}); found[0].Settled {
		t.Error("nothing counts in its place")
	}
	if found := repeatedOf([]Part{part("gone", true, 40), part("other", false, 0)}, &result.Placement{ProbeCPUs: "1"}); found[0].Settled || !found[1].Settled {
		t.Errorf("another part is not in its place: %+v", found)
	}
}

func TestJustTheShareThatMayBeAndJustTheLeastTime(t *testing.T) {
	for _, c := range []struct {
		span, others, steal float64
		disturbed           bool
	}{{2, 0.2, 0, false}, {0.1, 0.05, 0, true}, {0.1, 0.049, 0, false}, {2, 0.15, 0.1, true}, {0, 1, 0, false}} {
		if got := (CPUUsage{SpanS: c.span, OthersS: c.others, StealS: c.steal}).disturbed(); got != c.disturbed {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestWithoutAPlacementOrALookAtTheCPUsOfItNoCheckTellsOfNeighbours(t *testing.T) {
	u := usage(40, 60, 50, "")
	pinned := &result.Placement{ProbeCPUs: "1"}
	if placementLoad(u, nil) != nil || placementLoad(nil, pinned) != nil || placementLoad(u, pinned) != nil {
		t.Error("nobody can tell")
	}
	u.Host.ByCPU = []CPUUsage{{SpanS: 2, OthersS: 2}, cpuUsage(0, 2), {CPU: p(1)}}
	if c := placementLoad(u, pinned); c != nil {
		t.Errorf("%+v", c)
	}
	u.Host.ByCPU = append(u.Host.ByCPU, cpuUsage(1, 0.02))
	if c := placementLoad(u, pinned); c == nil || !*c.OK || c.Detail != "CPU 1: 1.0 % used by others, 0.0 % taken by the hypervisor; at most 10 %" {
		t.Errorf("%+v", c)
	}
	u.Host.ByCPU = []CPUUsage{{CPU: p(1), SpanS: 0.1, OthersS: 0.04}}
	want := "CPU 1: 40.0 % used by others, 0.0 % taken by the hypervisor (less than 0.05 s, which is too short to count); at most 10 %"
	if c := placementLoad(u, pinned); c == nil || !*c.OK || c.Detail != want {
		t.Errorf("%+v", c)
	}
}

func TestSecondsAreOfTheRunAndTheWorstOfACPUIsOfAllThatWasThrownAway(t *testing.T) {
	var early Sample
	if err := json.Unmarshal([]byte(`{"at_unix_ms":1000,"span_s":1,"cpus":[{"cpu":1,"others_s":0.9,"steal_s":0}]}`), &early); err != nil {
		t.Fatal(err)
	}
	if found := disturbedSeconds([]Sample{early}, nil, time.UnixMilli(5000)); len(found) != 1 || found[0].Second != 0 {
		t.Errorf("what was before the start is of its first second: %+v", found)
	}
	var short Sample
	if err := json.Unmarshal([]byte(`{"at_unix_ms":5100,"span_s":0.1,"cpus":[{"cpu":1,"others_s":0.03,"steal_s":0}]}`), &short); err != nil {
		t.Fatal(err)
	}
	if found := disturbedSeconds([]Sample{short, short}, &result.Placement{ProbeCPUs: "1"}, time.UnixMilli(5000)); len(found) != 1 || found[0].OthersPercent != 30 {
		t.Errorf("the samples of a second are added up: %+v", found)
	}
	unpinned := []result.Disturbance{{OthersPercent: 20}, {OthersPercent: 15, StealPercent: 6}, {OthersPercent: 5}}
	if found := worst(unpinned); len(found) != 1 || found[0].StealPercent != 6 {
		t.Errorf("%+v", found)
	}
}

func TestARunWithoutAPlacementHasDisturbedSecondsButNoPartsThatWereMeasuredAgain(t *testing.T) {
	e := complete()
	e.CPUs = make([]Sample, 1)
	if j := judged(t, e, sent(1000, 0)); j.Disturbed == nil || j.Repeated != nil {
		t.Errorf("%+v %+v", j.Disturbed, j.Repeated)
	}
	e.Placement = &result.Placement{ProbeCPUs: "1"}
	if j := judged(t, e, sent(1000, 0)); j.Disturbed == nil || j.Repeated == nil {
		t.Errorf("%+v %+v", j.Disturbed, j.Repeated)
	}
	e.CPUs = nil
	if j := judged(t, e, sent(1000, 0)); j.Disturbed != nil || j.Repeated != nil {
		t.Errorf("nobody looked: %+v %+v", j.Disturbed, j.Repeated)
	}
}
