// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"strconv"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/result"
)

// One of a hundred runners is 1 %, which a bound may allow.
func TestARunnerThatAloneIsRefusedIsNamed(t *testing.T) {
	refused := func(runners int, by func(n int) bool, bound float64) Judged {
		all := sentBy(runners, spread, by)
		for i := range all {
			all[i].evidence.Operations[0].Bounds["failed"] = p(bound)
		}
		return judgedFiles(t, files(t, all))
	}
	seventh := func(n int) bool { return n%50 == 6 }
	j := refused(50, seventh, 0.05)
	isJudged(t, "one of fifty", j, result.Inconclusive, "runner 7: send: 20 of this runner's 20 requests failed; of all runners 20 of 1000")
	if j.Runners[6].OK || !j.Runners[5].OK {
		t.Errorf("%+v", j.Runners[5:7])
	}
	isJudged(t, "more than may fail", refused(50, seventh, 0.01), result.Fail, "send: 2% failed")
	isJudged(t, "as many, of all runners alike", refused(50, func(n int) bool { return n/50 == 5 }, 0.05), result.Pass, "")
	isJudged(t, "all may fail", refused(2, func(n int) bool { return n%2 == 1 }, 1), result.Pass, "")
	isJudged(t, "a run of one", refused(1, func(n int) bool { return n%3 > 0 }, 0.9), result.Pass, "")
}

func TestARunnerThatSentNothingIsNamed(t *testing.T) {
	all := sentBy(2, spread, never)
	idle := parts(3)[2]
	for i := range all {
		all[i].evidence.Runner.Of = 3
	}
	j := judgedFiles(t, files(t, append(all, idle)))
	isJudged(t, "idle", j, result.Inconclusive, "runner 3: it sent nothing")
}

// climbing are two runners that look for the limit, and send the given number of requests in each of three steps of 2 s.
// Latency and failure depend on runner, step and request.
func climbing(each int, ms func(runner, step, n int) float64, failed func(runner, step int) bool) []part {
	all := parts(2)
	for runner := range all {
		e := &all[runner].evidence
		e.Plan, e.LoadS = Plan{Seconds: 6}, 6
		e.Steps = &Steps{Seconds: 2, Loads: []string{"10 requests a second", "20 requests a second", "30 requests a second"}}
		e.Usage.DurationS = 6
		for step := range e.Steps.Loads {
			tags := map[string]string{"operation": "send", "step": strconv.Itoa(step)}
			for n := range each {
				bad := failed(runner, step)
				all[runner].record.Series("operation_failed", metrics.Rate, tags).Add(map[bool]float64{true: 1}[bad])
				if !bad {
					all[runner].record.Series("operation_ms", metrics.Trend, tags).Add(ms(runner, step, n))
				}
			}
		}
	}
	return all
}

func healthy(_, _ int) bool { return false }

// The bound of P95 is 100 ms.
func TestTheLimitOfSeveralRunnersIsOfTheWhole(t *testing.T) {
	fast := func(_, _, _ int) float64 { return 5 }
	both := func(_, step, _ int) float64 { return []float64{5, 5, 500}[step] }
	isJudgedLimit := func(about string, all []part, verdict, says string) {
		t.Helper()
		j := judgedFiles(t, files(t, all))
		text := reasonsOf(j)
		for _, note := range j.Notes {
			text += "\n" + note
		}
		isJudged(t, about, Judged{Result: result.Result{Verdict: j.Verdict, Reasons: []result.Reason{{Text: text}}}}, verdict, says)
	}
	isJudgedLimit("both meet it", climbing(50, both, healthy), result.Pass, "the limit: 20 requests a second held, 30 requests a second did not")
	isJudgedLimit("neither does", climbing(50, fast, healthy), result.Inconclusive, noneBroke)

	// One in ten requests is slow, and all of those are of one runner: a fifth of its part.
	tenth := func(runner, step, n int) float64 {
		if step == 2 && runner == 1 && n%5 == 0 {
			return 500
		}
		return 5
	}
	isJudgedLimit("true of the whole", climbing(50, tenth, healthy), result.Pass, "30 requests a second did not")
	// One in forty requests is slow: this breaks the part of one runner, but not the whole.
	few := func(runner, step, n int) float64 {
		if step == 2 && runner == 1 && n%20 < 2 {
			return 500
		}
		return 5
	}
	parts, whole := climbing(60, few, healthy), climbing(60, fast, healthy)
	parts[0].record = climbing(120, fast, healthy)[0].record
	isJudgedLimit("false of the whole", parts, result.Inconclusive, noneBroke)
	isJudgedLimit("and of neither", whole, result.Inconclusive, noneBroke)
}

// The cause may be the runner's network path to the system, or the system's limit for one client.
func TestALimitOfOneRunnerAloneIsNone(t *testing.T) {
	fast := func(_, _, _ int) float64 { return 5 }
	for about, all := range map[string][]part{
		"refused": climbing(50, fast, func(runner, step int) bool { return runner == 1 && step == 2 }),
		"slow": climbing(50, func(runner, step, _ int) float64 {
			if runner == 1 && step == 2 {
				return 500
			}
			return 5
		}, healthy),
	} {
		j := judgedFiles(t, files(t, all))
		isJudged(t, about, j, result.Inconclusive, "runner 2: send: step 3 was beyond the limit for this runner, but not for another one")
		if j.Runners[1].OK || !j.Runners[0].OK {
			t.Errorf("%s: %+v", about, j.Runners)
		}
	}
	isJudged(t, "a step of which one did little", judgedFiles(t, files(t, climbing(5, fast, func(runner, step int) bool { return runner == 1 && step == 2 }))), result.Pass, "")
}

// The first runner whose own part is beyond doubt ends the run for all, for example after two requests.
func TestAStepThatWasCutShortIsTheLimitOnlyBeyondDoubt(t *testing.T) {
	cut := func(ms func(runner, step, n int) float64) []part {
		all := climbing(50, ms, healthy)
		for i := range all {
			all[i].evidence.LoadS = 4.5
		}
		return all
	}
	isJudged(t, "P95 alone", judgedFiles(t, files(t, cut(func(_, step, n int) float64 {
		if step == 2 && n%10 == 0 {
			return 500
		}
		return 5
	}))), result.Inconclusive, "the load ended during that step, after 4.5 s, and the step did not clearly exceed the limit")
	isJudged(t, "beyond doubt", judgedFiles(t, files(t, cut(func(_, step, _ int) float64 { return []float64{5, 5, 500}[step] }))), result.Pass, "")
	first := cut(func(_, _, n int) float64 { return []float64{5, 500}[map[bool]int{true: 1}[n%10 == 0]] })
	for i := range first {
		first[i].evidence.LoadS = 1.5
	}
	isJudged(t, "the first step", judgedFiles(t, files(t, first)), result.Inconclusive, "the load ended during that step")
}

func TestALimitWithoutARunnerIsNone(t *testing.T) {
	all := climbing(50, func(_, step, _ int) float64 { return []float64{5, 5, 500}[step] }, healthy)
	isJudged(t, "lost", judgedFiles(t, files(t, all)[:1]), result.Inconclusive, "runner 2: no record came")
}

// Four processes with half a core each use up two cores, though each uses less than it may.
func TestRunnersThatTookTheirMachineAreTheBottleneckWithoutASidecarToo(t *testing.T) {
	told := func(used, busy float64, cpus int, machine func(n int) string) Judged {
		all := sentBy(4, spread, never)
		for i := range all {
			all[i].evidence.Usage = nil
			own := all[i].evidence.Runner
			own.Machine, own.CPUS, own.CPUs = machine(i), p(used*2), p(2.0)
			own.MachineCPUs, own.MachineBusyPercent = cpus, p(busy)
		}
		return judgedFiles(t, files(t, all))
	}
	same := func(int) string { return "same" }
	isJudged(t, "all of it", told(0.48, 99, 2, same), result.Inconclusive, "the 2 cores of the machine were 99.0 % busy")
	isJudged(t, "a bit is left", told(0.48, 90, 2, same), result.Pass, "")
	isJudged(t, "the larger part is the system's", told(0.2, 99, 2, same), result.Pass, "")
	isJudged(t, "each has its own", told(0.48, 99, 2, func(n int) string { return strconv.Itoa(n) }), result.Pass, "")
	isJudged(t, "nobody can tell", told(0.48, 99, 0, same), result.Pass, "")
}
