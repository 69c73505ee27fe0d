// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
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

func TestAThirdProgramThatTookALargePartOfAFullMachineIsNamed(t *testing.T) {
	others := func(percent float64) Judged {
		e := complete()
		e.Usage = beside(usage(60, 99, 50, ""), percent)
		return judged(t, e, sent(1000, 0))
	}
	isJudgedFirst(t, "a third", others(88), result.Inconclusive, "other programs used 88.0 % of one core")
	isJudged(t, "half of a core", others(50), result.Pass, "")
	isJudgedFirst(t, "more than that", others(50.1), result.Inconclusive, "other programs used 50.1 % of one core")
}

func TestTheGeneratorOfTheOtherSideIsNoSystem(t *testing.T) {
	for generator, verdict := range map[float64]string{60: result.Inconclusive, 40: result.Pass} {
		e := complete()
		// The other side uses the same share.
		e.Usage = beside(usage(generator, 99, 99-generator, ""), 0)
		isJudged(t, "at once", judged(t, e, sent(1000, 0)), verdict, "")
	}
}

// beside adds the use of both CPUs by other programs, in percent of one. The sidecar watched longer than it measured.
func beside(u *Usage, othersPercent float64) *Usage {
	span := 3 * u.DurationS
	u.Host.ByCPU = []CPUUsage{{SpanS: span, OthersS: othersPercent / 100 * span}, {SpanS: span}}
	return u
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
	if c := checkNamed(t, judged(t, complete(), limits), "generator limits"); !strings.Contains(c.Detail, "ulimit -n") {
		t.Errorf("it does not say what to do: %+v", c)
	}
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
	isJudged(t, "swamped", of("closed", 300), result.Inconclusive, "arrivals handled late by 300.000 ms")
}

func TestAMachineIsFullWithLessThanATwentiethLeftAndWhoTookMoreThanHalfOfItIsToBlame(t *testing.T) {
	for _, c := range []struct {
		about                  string
		generator, busy, relay float64
		verdict                string
	}{
		{"a twentieth left", 150, 95, 50, result.Pass},
		{"less", 150, 95.1, 50, result.Inconclusive},
		{"just half of it", 99, 99, 99, result.Pass},
		{"more", 99.1, 99, 99, result.Inconclusive},
	} {
		e := complete()
		e.Usage = usage(c.generator, c.busy, c.relay, "")
		isJudged(t, c.about, judged(t, e, sent(1000, 0)), c.verdict, "")
	}
}

func TestOfAWindowThatWasEmptyTheCPUCheckIsOpen(t *testing.T) {
	u := usage(150, 99, 50, "")
	u.DurationS = 0
	if c := generatorCPU(u, false, false); c.OK != nil || c.Detail != "nothing was measured" {
		t.Errorf("%+v", c)
	}
}

func TestWithAControlOrAPlacementTheCPUCheckBlamesNobody(t *testing.T) {
	if c := generatorCPU(usage(150, 99, 50, ""), true, false); !*c.OK {
		t.Errorf("the control tells what the generator can do: %+v", c)
	}
	if c := generatorCPU(beside(usage(60, 99, 50, ""), 88), false, true); !*c.OK {
		t.Errorf("a check of its own tells of the placement: %+v", c)
	}
}

func TestOnlyTheProcessesOfASystemHaveATotal(t *testing.T) {
	u := usage(40, 60, 50, "")
	u.Total.CPUPercent = 50
	if rows := processesOf(*u); len(rows) != 3 || rows[2].Name != "total" || rows[2].CPUPercent != 50 {
		t.Errorf("%+v", rows)
	}
	u.Processes[0].Role = "support"
	if rows := processesOf(*u); len(rows) != 2 {
		t.Errorf("%+v", rows)
	}
	if rows := processesOf(Usage{}); rows == nil || len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

func TestTheResultHasTheCPUOfTheWholeWindowWhereASystemWasWatched(t *testing.T) {
	const told = `{"duration_s": 2, "processes": [{"name": "relay", "role": "system", "cpu_s": 1}, {"name": "k6", "role": "generator", "cpu_s": 1}],
		"whole": {"window_s": 4.5, "quiet_s": 2, "system_s": 2.5, "quiet_system_s": 1}}`
	e := complete()
	e.Usage = nil
	if err := json.Unmarshal([]byte(told), &e.Usage); err != nil {
		t.Fatal(err)
	}
	j := judged(t, e, sent(1000, 0))
	if want := (result.WindowCPU{WindowS: 4.5, QuietS: 2, SystemS: 2.5, QuietSystemS: 1}); j.CPU == nil || *j.CPU != want {
		t.Errorf("%+v", j.CPU)
	}
	if j.Processes[0].CPUS != 1 {
		t.Errorf("a process has its CPU time of the load: %+v", j.Processes[0])
	}
	const line = "CPU of the system over the load and 2 s of quiet after it: 2.50 s, of which 1.00 s (40 %) in the measured parts, 0.50 s (20 %) between them, 1.00 s (40 %) in the quiet period"
	if text := j.Text(); !strings.Contains(text, line) {
		t.Error(text)
	}
	e.Usage.Processes[0].Role = "support"
	if j := judged(t, e, sent(1000, 0)); j.CPU != nil {
		t.Errorf("of no system: %+v", j.CPU)
	}
	for about, usage := range map[string]*Usage{"no sidecar": nil, "no quiet period": usage(40, 60, 50, "")} {
		e.Usage = usage
		j := judged(t, e, sent(1000, 0))
		text, err := j.File()
		if err != nil || j.CPU != nil || strings.Contains(string(text), `"cpu":`) || strings.Contains(j.Text(), "quiet") {
			t.Errorf("%s: %s", about, text)
		}
	}
}

func TestWhatASystemAnswersByItselfIsBoundByTheProbesOwnCPU(t *testing.T) {
	of := func(answersItself bool) result.Validity {
		e := complete()
		e.Operations = []Operation{
			{Name: "cached", Loop: "closed", Control: "direct", Saturates: true, AnswersItself: answersItself}, {Name: "direct", Loop: "closed"},
		}
		metrics := probed("cached", 1, 1).with(probed("direct", 1, 1))
		metrics["operation_probe_cpu_s{operation:cached}"] = map[string]float64{"count": 0.5}
		return checkNamed(t, judged(t, e, metrics), "generator headroom: cached")
	}
	if c := of(true); !*c.OK || c.Detail != "the probe used 50 % of its CPU; above 83 % it may be the limit" {
		t.Errorf("%+v", c)
	}
	if c := of(false); *c.OK || c.Detail != "the direct control is 1.00 times as fast; below 1.2 times the generator, the far end or loopback may be the limit" {
		t.Errorf("%+v", c)
	}
	if c := probeHeadroom(result.Operation{WindowS: 1.2, CPU: &result.CPU{ProbeS: 1}}); !*c.OK {
		t.Errorf("just the share that may be: %+v", c)
	}
}

func TestOverALinkTheMeterIsJudgedByItsOwnCPU(t *testing.T) {
	of := func(link *Link, seconds float64, known bool) *result.Validity {
		e := complete()
		e.Link = link
		e.Operations = []Operation{{Name: "down", Loop: "closed", Control: "direct", Saturates: true}, {Name: "direct", Loop: "closed"}}
		metrics := probed("down", 1, 1).with(probed("direct", 1, 1))
		delete(metrics, "operation_probe_cpu_s{operation:down}")
		if known {
			metrics["operation_probe_cpu_s{operation:down}"] = map[string]float64{"count": seconds}
		}
		for _, c := range judged(t, e, metrics).Validity {
			if c.Check == "generator headroom: down" {
				return &c
			}
		}
		return nil
	}
	link := &Link{Calibration: LinkCalibration{OK: true}}
	for _, c := range []struct {
		about   string
		link    *Link
		seconds float64
		known   bool
		want    bool
	}{
		{"the link is the limit, and the probe rests", link, 0.02, true, true},
		{"the probe takes its whole CPU", link, 0.9, true, false},
		{"nobody knows what the probe took", link, 0, false, false},
		{"on loopback the direct way tells", nil, 0.02, true, false},
	} {
		if got := of(c.link, c.seconds, c.known); got == nil || *got.OK != c.want {
			t.Errorf("%s: %+v", c.about, got)
		}
	}
}

func TestLatenessOfAFewMillisecondsIsNoMatterWhateverThePercentileIs(t *testing.T) {
	for late, ok := range map[float64]bool{4.9: true, 5: true, 5.1: false} {
		row := result.Operation{Name: "send", Loop: "open", LatencyMS: &result.Latency{Count: 1000, P99: p(2.0)}}
		if c := generatorLateness(row, map[string]float64{"count": 9, "p(99)": late}, nil); *c.OK != ok {
			t.Errorf("%g ms: %+v", late, c)
		}
	}
	if !isDistinguishable(20, 10) || isDistinguishable(20, 10.1) || !isDistinguishable(0, 0) {
		t.Error("just half of a percentile may be lateness")
	}
	if generatorLateness(result.Operation{}, nil, nil) != nil {
		t.Error("nothing was late")
	}
}

func TestAControlFailsByItsOwnErrorsAlone(t *testing.T) {
	controls := []result.Control{{Operation: "tcp", Control: "direct"}}
	for _, c := range []struct {
		operation, metric string
		ok                bool
	}{{"tcp", "operation_failed", true}, {"direct", "operation_ms", true}, {"direct", "operation_failed", false}, {"direct", "operation_errors", false}} {
		lines := []result.Threshold{{Operation: c.operation, Metric: c.metric}, {Operation: "direct", Metric: "operation_failed", OK: true}}
		if found := controlsHold(controls, lines); *found.OK != c.ok {
			t.Errorf("%s %s: %+v", c.operation, c.metric, found)
		}
	}
	if controlsHold(nil, nil) != nil {
		t.Error("there is no control")
	}
}

func TestLatenessThatHidesNoPercentileIsToldAlone(t *testing.T) {
	row := result.Operation{Name: "send", Loop: "closed"}
	if c := generatorLateness(row, map[string]float64{"count": 9, "p(99)": 250}, nil); !*c.OK ||
		c.Detail != "arrivals handled late by 250.000 ms at P99; at most 250.000 ms is allowed" {
		t.Errorf("%+v", c)
	}
}
