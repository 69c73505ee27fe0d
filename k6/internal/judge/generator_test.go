// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"testing"

	"windtunnel/k6/internal/result"
)

func TestAGeneratorThatTookMostOfAFullMachineMakesTheRunInconclusive(t *testing.T) {
	for _, c := range []struct {
		about                  string
		generator, busy, relay float64
		verdict                string
	}{
		{"the generator was the larger part", 150, 99, 50, result.Inconclusive},
		{"the system was the larger part", 60, 99, 120, result.Pass},
		{"the machine had room", 150, 80, 50, result.Pass},
	} {
		e := complete()
		e.Usage = usage(c.generator, c.busy, c.relay, "")
		isJudged(t, c.about, judged(t, e, sent(1000, 0)), c.verdict, "")
	}
}

func TestAThirdProcessThatTookALargePartOfAFullMachineIsNamed(t *testing.T) {
	e := complete()
	e.Usage = usage(60, 99, 50, "")
	isJudged(t, "a third", judged(t, e, sent(1000, 0)), result.Inconclusive, "88.0 % of one core with something else")
	own := func(seconds float64) Judged {
		return judged(t, e, sent(1000, 0).with(fake{"own_instances_cpu_s": {"count": seconds}}))
	}
	isJudged(t, "systems that the scenario started", own(0.88*2), result.Pass, "")
	isJudged(t, "and others", own(0.3*2), result.Inconclusive, "58.0 % of one core with something")
}

func TestWithoutASidecarTheCPUCheckIsOpenAndNoReason(t *testing.T) {
	e := complete()
	e.Usage = nil
	j := judged(t, e, sent(1000, 0))
	if checkNamed(t, j, "generator CPU").OK != nil || j.Verdict != result.Pass {
		t.Errorf("%s %+v", j.Verdict, j.Validity)
	}
}

func TestTheMeterMustBeFasterThanWhatItSaturates(t *testing.T) {
	ratio := func(r float64) *result.Validity {
		return headroom(result.Control{Operation: "tcp", RateRatio: &r}, true)
	}
	if !*ratio(0.25).OK || !*ratio(1 / 1.2).OK || *ratio(0.84).OK || *ratio(0.9).OK || ratio(0) != nil {
		t.Error("1.2 times as fast")
	}
	if headroom(result.Control{RateRatio: p(1.0)}, false) != nil {
		t.Error("one round trip at a time has no such bound")
	}
	probe := func(seconds, window float64) *result.Validity {
		return probeHeadroom(result.Operation{Name: "cached", WindowS: window, CPU: &result.CPU{ProbeS: seconds}})
	}
	if !*probe(1.66, 2).OK || *probe(1.68, 2).OK || probe(0, 0) != nil {
		t.Error("83 % of its CPU")
	}
}

func TestLimitsOfTheGeneratorAndFailedControlsAreInconclusiveWhateverTheSystemDid(t *testing.T) {
	limits := sent(990, 10).with(fake{"operation_errors{operation:send,kind:too_many_files}": {"count": 10}})
	isJudged(t, "limits", judged(t, complete(), limits), result.Inconclusive, "generator limits: 10 × too_many_files: ")
	failing := sent(990, 10).with(fake{"operation_errors{operation:send,kind:socks_general_failure}": {"count": 10}})
	isJudged(t, "the system", judged(t, complete(), failing), result.Fail, "")
	both := fake{}
	for name, values := range failing {
		both[name] = values
	}
	for _, metric := range []string{"ms", "failed", "items", "clock_ms"} {
		both["operation_"+metric+"{operation:send_direct}"] = failing["operation_"+metric+"{operation:send}"]
	}
	e := complete()
	e.Operations = []Operation{
		{Name: "send", Loop: "closed", Optional: true, Control: "send_direct", Bounds: bounds(map[string]float64{"failed": 0})},
		{Name: "send_direct", Loop: "closed", Optional: true, Bounds: bounds(map[string]float64{"failed": 0})},
	}
	isJudged(t, "controls", judged(t, e, both), result.Inconclusive, "controls: send_direct failed without the system")
}

func TestALateGeneratorMakesAnOpenLoopInconclusiveAndAClosedOneOnlyWhenItIsSwamped(t *testing.T) {
	of := func(loop string, p99 float64) Judged {
		e := complete()
		e.Operations[0].Loop = loop
		return judged(t, e, sent(1000, 0).with(fake{"operation_lateness_ms{operation:send}": {"count": 9, "p(99)": p99}}))
	}
	isJudged(t, "half of the P99 of 20 ms", of("open", 9.9), result.Pass, "")
	isJudged(t, "more", of("open", 10.1), result.Inconclusive, "generator lateness: send")
	isJudged(t, "closed", of("closed", 10.1), result.Pass, "")
	isJudged(t, "swamped", of("closed", 300), result.Inconclusive, "arrivals handled 300.000 ms late")
}
