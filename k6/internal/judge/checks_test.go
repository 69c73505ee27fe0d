// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"testing"

	"windtunnel/k6/internal/result"
)

func TestARoundThatWasCutOffOrALatencyBelowZeroIsInconclusive(t *testing.T) {
	cut := judged(t, complete(), sent(1000, 0).with(fake{"rounds_begun": {"count": 1001}}))
	isJudgedFirst(t, "round", cut, result.Inconclusive, "rounds: 1 of 1001 rounds were interrupted")
	jumped := sent(1000, 0)
	jumped["operation_ms{operation:send}"]["min"] = -3
	isJudgedFirst(t, "clock", judged(t, complete(), jumped), result.Inconclusive, "clock: send: a latency of -3.000 ms")
}

func TestDroppedIterationsAndProbesThatEndedAreNamed(t *testing.T) {
	e := complete()
	e.Counts.Dropped = 7
	isJudgedFirst(t, "dropped", judged(t, e, sent(1000, 0)), result.Inconclusive, "dropped iterations: 7 iterations never started")
	isJudged(t, "probe", judged(t, complete(), sent(1000, 0).with(fake{"probes_cut": {"count": 2}})), result.Inconclusive, "probes: 2 ended early")
	isJudged(t, "whole", judged(t, complete(), sent(1000, 0).with(fake{"probes_cut": {"count": 0}})), result.Pass, "")
}

func TestASystemThatEndedFailsARunThatWasStoppedForItAndTheMomentIsTold(t *testing.T) {
	e := complete()
	e.Usage = usage(40, 60, 50, "signal 9")
	isJudgedFirst(t, "dead", judged(t, e, sent(1000, 0)), result.Fail, "relay ended in mid-run (signal 9)")
	e.Usage.Processes[0].ExitAfterS, e.Counts.Iterations = p(5.23), 500
	isJudged(t, "stopped", judged(t, e, sent(500, 0)), result.Fail, "processes: relay ended 5.2 s after the start (signal 9)")
}

func TestWhatATestbedHasBesideTheSystemIsNoFailureOfTheSystem(t *testing.T) {
	e := complete()
	e.Usage = usage(40, 60, 50, "signal 9")
	e.Usage.Processes[0].Role = "support"
	isJudgedFirst(t, "support", judged(t, e, sent(1000, 0)), result.Inconclusive, "support processes: relay ended in mid-run")
}

func TestATargetThatFellSilentFailsTheRunThatWasStoppedForIt(t *testing.T) {
	e := complete()
	e.Counts.Iterations = 500
	j := judged(t, e, sent(500, 0).with(fake{"target_silent_since_ms": {"value": 12_300}}))
	isJudged(t, "silent", j, result.Fail, "target: the system answered nothing for 10 s, from second 12.3 of the run: the run was stopped")
}

func TestARowThatARunMayDoWithoutNeedsNoSamples(t *testing.T) {
	e := complete()
	e.Operations = append(e.Operations, Operation{Name: "none", Loop: "closed", Optional: true})
	isJudged(t, "optional", judged(t, e, sent(1000, 0)), result.Pass, "")
	e.Operations[1].Optional = false
	isJudged(t, "not optional", judged(t, e, sent(1000, 0)), result.Inconclusive, "samples: none: 0 samples")
}

func TestAThousandthOfThePlannedTimeMayBeMissing(t *testing.T) {
	for seconds, whole := range map[float64]bool{1000: true, 999: true, 998.9: false} {
		if lastedAsPlanned(1000, seconds) != whole {
			t.Errorf("%g of 1000 s", seconds)
		}
	}
}

func TestAStepOfALimitIsNotAskedWhetherItEndedAsPlanned(t *testing.T) {
	d, metrics := steps(40)
	e := complete()
	e.Declared, e.Counts.Iterations = d, 3
	for _, c := range judged(t, e, metrics).Validity {
		if c.Check == "complete" {
			t.Errorf("%+v", c)
		}
	}
}

func TestChecksThatHoldSaySo(t *testing.T) {
	j := judged(t, complete(), sent(1000, 0).with(fake{"probes_cut": {"count": 0}, "rounds_begun": {"count": 1000}}))
	for name, detail := range map[string]string{
		"complete": "1000 of 1000 iterations", "dropped iterations": "none", "rounds": "all rounds ended", "probes": "all ran to completion",
		"processes": "all alive to the end", "samples: send": "1000 samples",
	} {
		if c := checkNamed(t, j, name); !*c.OK || c.Detail != detail {
			t.Errorf("%+v, want %q", c, detail)
		}
	}
	for _, c := range judged(t, complete(), sent(1000, 0)).Validity {
		if c.Check == "probes" || c.Check == "rounds" || c.Check == "clock: send" || c.Check == "target" {
			t.Errorf("nobody asked: %+v", c)
		}
	}
}
