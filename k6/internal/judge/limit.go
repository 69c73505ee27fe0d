// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// The profile breakpoint raises the load in steps. The limit is the last step before the first step that failed. Each
// step is judged only by its own samples: over the whole run, the easy steps would hide the step that failed.

const (
	// stepFailedMost is the largest share of failed requests in a step that holds.
	stepFailedMost = 0.05
	// stepFailedSurely is the share of failed requests that ends the run.
	stepFailedSurely = 0.5
	// stepPercentile must stay below the operation's bound.
	stepPercentile = "p(95)"
	noneBroke      = "every step held: the limit is above the highest load of this run, or the run ended early"
)

// byStep are the kinds of checks that a step beyond the system's limit may fail.
var byStep = []string{"samples", "dropped", "interrupt", "system"}

type abort struct {
	Threshold string `json:"threshold"`
	Abort     bool   `json:"abortOnFail"`
	Delay     string `json:"delayAbortEval"`
}

// addLimits adds k6's thresholds for the steps. The run ends early only if a step certainly failed: its median is above
// the bound, or half of its requests failed.
func (d Declared) addLimits(thresholds map[string][]any) {
	if d.Steps == nil {
		return
	}
	stop := func(threshold string) []any { return []any{abort{threshold, true, "5s"}} }
	for step := range d.Steps.Loads {
		for _, op := range d.Operations {
			tags := fmt.Sprintf("{operation:%s,step:%d}", op.Name, step)
			if most := op.Bounds[stepPercentile]; most != nil {
				thresholds["operation_ms"+tags] = stop("med<" + number(*most))
			}
			thresholds["operation_failed"+tags] = stop("rate<=" + number(stepFailedSurely))
		}
	}
}

// inStep is one operation in one step. BeyondDoubt says that the step failed so clearly that the run ends early
// (addLimits).
type inStep struct {
	requests           float64
	text               string
	holds, beyondDoubt bool
}

func operationInStep(m Metrics, op Operation, step int) inStep {
	tags := map[string]string{"operation": op.Name, "step": strconv.Itoa(step)}
	failed, _ := m.Values("operation_failed", tags)
	requests := failed["passes"] + failed["fails"]
	if requests == 0 {
		return inStep{holds: true}
	}
	latency, _ := m.Values("operation_ms", tags)
	time, some := "no success", latency["count"] > 0
	p95 := latency[stepPercentile]
	if some {
		time = "P95 " + format.MS(&p95) + " ms"
	}
	most := op.Bounds[stepPercentile]
	slow := most != nil && some && p95 >= *most
	rate := failed["rate"]
	return inStep{
		requests: requests, text: fmt.Sprintf("%s %s, %s failed", op.Name, time, format.Share(&rate)),
		holds:       !slow && rate <= stepFailedMost && some,
		beyondDoubt: rate > stepFailedSurely || most != nil && some && latency["med"] >= *most,
	}
}

type step struct {
	number             int
	holds, beyondDoubt bool
	text               string
}

// wasCut reports whether a part of the step is missing and the rest does not decide beyond doubt.
func (s step) wasCut(e Evidence) bool {
	return !s.beyondDoubt && !lastedAsPlanned(e.Steps.Seconds*float64(s.number+1), e.LoadS)
}

func stepsOf(m Metrics, d Declared) (steps []step) {
	for number, load := range d.Steps.Loads {
		var texts []string
		all, surely := true, false
		for _, op := range d.Operations {
			if in := operationInStep(m, op, number); in.requests > 0 {
				texts, all, surely = append(texts, in.text), all && in.holds, surely || in.beyondDoubt
			}
		}
		if len(texts) == 0 {
			continue
		}
		held := "held"
		if !all {
			held = "did not hold"
		}
		steps = append(steps, step{number, all, surely, fmt.Sprintf("step %d, %s: %s: %s", number+1, load, strings.Join(texts, "; "), held)})
	}
	return steps
}

// besideSteps are the reasons of failed checks that a step beyond the limit does not fail.
func besideSteps(checks []result.Validity) []reason {
	return invalidReasons(slices.DeleteFunc(slices.Clone(checks), func(c result.Validity) bool { return slices.Contains(byStep, c.Kind) }))
}

// findLimit is the verdict of a run that looks for the limit. Finding the limit is a pass. It is a failure if the first
// step fails, or if the system ends instead of rejecting requests.
//
// A run ends early if a step is beyond the limit without doubt. k6 judges this by its own samples: each of several
// runners by its part of the load, and the first one ends the run for all. Here the whole step is judged: a step with a
// missing part is beyond the limit only if there is no doubt.
func findLimit(m Metrics, e Evidence, checks []result.Validity) opinion {
	d := e.Declared
	steps := stepsOf(m, d)
	if len(steps) == 0 {
		return opinion{verdict: result.Inconclusive, reasons: []reason{because("empty", "nothing was measured")}}
	}
	loads := d.Steps.Loads
	broken := slices.IndexFunc(steps, func(s step) bool { return !s.holds })
	listed := steps
	if broken >= 0 {
		listed = steps[:min(len(steps), steps[broken].number+1)]
	}
	var found opinion
	for _, s := range listed {
		found.notes = append(found.notes, s.text)
	}
	of := func(is func(result.Validity) bool) []reason {
		return invalidReasons(slices.DeleteFunc(slices.Clone(checks), func(c result.Validity) bool { return !is(c) }))
	}
	if ended := of(func(c result.Validity) bool { return c.Check == checkProcesses }); len(ended) > 0 {
		found.verdict, found.reasons = result.Fail, ended
		return found
	}
	if lost := of(func(c result.Validity) bool { return c.Kind == kindRunner }); len(lost) > 0 {
		found.verdict, found.reasons = result.Inconclusive, lost
		return found
	}
	cut := broken >= 0 && steps[broken].wasCut(e)
	if broken >= 0 && steps[broken].number == 0 && !cut {
		found.verdict, found.reasons = result.Fail, []reason{because("limit", "the first step already exceeded the limit: "+steps[broken].text)}
		return found
	}
	found.reasons = besideSteps(checks)
	switch {
	case broken < 0:
		found.reasons = append(found.reasons, because("limit", noneBroke))
	case cut:
		found.reasons = append(found.reasons, because("limit", fmt.Sprintf("%s, but the load ended during that step, after %.1f s, and the step did not clearly exceed the limit",
			steps[broken].text, e.LoadS)))
	case broken == 0 || steps[broken-1].number != steps[broken].number-1:
		found.reasons = append(found.reasons, because("limit", steps[broken].text+", and the step below it was not measured"))
	default:
		at := steps[broken].number
		found.notes = append(found.notes, fmt.Sprintf("the limit: %s held, %s did not", loads[at-1], loads[at]))
	}
	found.verdict = result.Pass
	if len(found.reasons) > 0 {
		found.verdict = result.Inconclusive
	}
	return found
}
