// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"
	"testing"

	"windtunnel/k6/internal/result"
)

func limited(system *result.SystemLimits, generator *result.GeneratorLimits) Evidence {
	e := complete()
	e.Usage.Limits = &result.Limits{System: system, Generator: generator}
	return e
}

func memoryLimit(killed *int64) *result.SystemLimits {
	return &result.SystemLimits{Text: "memory:64mib", MemoryBytes: p(int64(64 << 20)), Killed: killed}
}

func TestASystemThatWasKilledForMemoryFails(t *testing.T) {
	isJudgedFirst(t, "killed twice", judged(t, limited(memoryLimit(p(int64(2))), nil), sent(1000, 0)), result.Fail,
		"memory limit: killed for memory 2 times at memory:64mib")
	if j := judged(t, limited(memoryLimit(p(int64(0))), nil), sent(1000, 0)); j.Verdict != result.Pass || j.Limits == nil {
		t.Errorf("%s: %s", j.Verdict, reasonsOf(j))
	}
	j := judged(t, limited(memoryLimit(nil), nil), sent(1000, 0))
	if c := checkNamed(t, j, "memory limit"); c.OK != nil {
		t.Errorf("an unknown number of kills is %v", *c.OK)
	}
}

func TestAThrottledGeneratorIsInconclusive(t *testing.T) {
	quota := &result.GeneratorLimits{CPUPercent: p(60.0)}
	if j := judged(t, limited(nil, quota), sent(1000, 0)); j.Verdict != result.Pass || !*checkNamed(t, j, checkThrottling).OK {
		t.Errorf("%s: %s", j.Verdict, reasonsOf(j))
	}
	quota.Throttled = result.Throttled{Periods: 40, ThrottledPeriods: 7, ThrottledS: 0.5}
	isJudgedFirst(t, "throttled", judged(t, limited(nil, quota), sent(1000, 0)), result.Inconclusive,
		"generator throttling: k6 and the sidecar have a quota of 60 % of one CPU from outside: throttled in 7 of 40 periods, 0.50 s")
	none := judged(t, limited(nil, &result.GeneratorLimits{}), sent(1000, 0))
	for _, c := range none.Validity {
		if c.Check == checkThrottling {
			t.Error("a check without a quota")
		}
	}
}

func TestLimitsOfOthersForTheSystemAreARemarkAndKillsFail(t *testing.T) {
	e := limited(nil, nil)
	given := &result.GivenLimits{GeneratorLimits: result.GeneratorLimits{CPUPercent: p(60.0), MemoryBytes: p(int64(64 << 20)),
		Throttled: result.Throttled{Periods: 40, ThrottledPeriods: 7, ThrottledS: 0.5}}, Killed: p(int64(0))}
	e.Usage.Limits.Given = given
	const quota = "the system has limits from outside, such as a container's: a quota of 60 % of one CPU: throttled in 7 of 40 periods, 0.50 s; 64.0 MiB of memory: killed for memory "
	if j := judged(t, e, sent(1000, 0)); j.Verdict != result.Pass || !slices.Contains(j.Notes, quota+"0 times") {
		t.Errorf("%s: %v", j.Verdict, j.Notes)
	}
	given.Killed = p(int64(1))
	isJudgedFirst(t, "killed", judged(t, e, sent(1000, 0)), result.Fail, "memory limit: "+quota+"1 time")
	e.Usage.Limits.Given = &result.GivenLimits{}
	if j := judged(t, e, sent(1000, 0)); len(j.Notes) > 0 {
		t.Errorf("no limit: %v", j.Notes)
	}
}

func TestTheWorstOfAllRunnersCounts(t *testing.T) {
	of := func(periods int64) *result.Limits {
		return &result.Limits{Generator: &result.GeneratorLimits{Throttled: result.Throttled{ThrottledPeriods: periods}}}
	}
	unknown := &result.Limits{}
	for _, c := range []struct{ a, b, most *result.Limits }{
		{nil, unknown, unknown}, {unknown, nil, unknown},
	} {
		if got := worstLimits(c.a, c.b); got != c.most {
			t.Errorf("%+v and %+v: %+v", c.a, c.b, got)
		}
	}
	one, seven := of(1), of(7)
	for _, pair := range [][2]*result.Limits{{one, seven}, {seven, one}, {unknown, seven}, {seven, unknown}, {nil, seven}} {
		if got := worstLimits(pair[0], pair[1]); got.Generator != seven.Generator {
			t.Errorf("%+v: %+v", pair, got)
		}
	}
	seven.System, one.System = memoryLimit(p(int64(0))), memoryLimit(p(int64(1)))
	seven.Given, one.Given = &result.GivenLimits{GeneratorLimits: *seven.Generator}, &result.GivenLimits{Killed: p(int64(1))}
	for _, pair := range [][2]*result.Limits{{one, seven}, {seven, one}} {
		if got := worstLimits(pair[0], pair[1]); got.Generator != seven.Generator || got.System != one.System || got.Given != one.Given {
			t.Errorf("%+v: %+v", pair, got)
		}
	}
}
