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

// The profile breakpoint: the load rises in steps, and the limit is the last step before the first that did not hold. Each
// step is judged by its own samples: over the whole run, the easy steps would hide the one that broke.

const (
	// stepFailedMost is the share of its requests that may fail while a step holds,
	stepFailedMost = 0.05
	// stepPercentile has to be faster than the operation's own bound.
	stepPercentile = "p(95)"
	noneBroke      = "every step held: the limit is above the highest load of this run, or the run ended early"
)

// byStep are the kinds of checks that a step which is too much for the system cannot hold.
var byStep = []string{"samples", "dropped", "interrupt", "system"}

// abort ends a run early.
type abort struct {
	Threshold string `json:"threshold"`
	Abort     bool   `json:"abortOnFail"`
	Delay     string `json:"delayAbortEval"`
}

// addLimits adds k6's thresholds of the steps. The run ends early only once a step is beyond doubt: its median above the
// bound, or half of its requests failed.
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
			thresholds["operation_failed"+tags] = stop("rate<=0.5")
		}
	}
}

// operationInStep is what one operation did in one step, in words; false where it did nothing.
func operationInStep(m Metrics, op Operation, step int) (text string, holds, did bool) {
	tags := map[string]string{"operation": op.Name, "step": strconv.Itoa(step)}
	failed, _ := m.Values("operation_failed", tags)
	if failed["passes"]+failed["fails"] == 0 {
		return "", true, false
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
	return fmt.Sprintf("%s %s, %s failed", op.Name, time, format.Share(&rate)), !slow && rate <= stepFailedMost && some, true
}

// step is one of the load that was measured.
type step struct {
	number int
	holds  bool
	text   string
}

func stepsOf(m Metrics, d Declared) (steps []step) {
	for number, load := range d.Steps.Loads {
		var texts []string
		all := true
		for _, op := range d.Operations {
			if text, holds, did := operationInStep(m, op, number); did {
				texts, all = append(texts, text), all && holds
			}
		}
		if len(texts) == 0 {
			continue
		}
		held := "held"
		if !all {
			held = "did not hold"
		}
		steps = append(steps, step{number, all, fmt.Sprintf("step %d, %s: %s: %s", number+1, load, strings.Join(texts, "; "), held)})
	}
	return steps
}

// findLimit is the verdict of a run that looks for the limit. Finding it is what the run is for; not holding even the first
// step is a failure, and so is a system that ended instead of refusing.
func findLimit(m Metrics, d Declared, checks []result.Validity) opinion {
	steps := stepsOf(m, d)
	if len(steps) == 0 {
		return opinion{verdict: result.Inconclusive, reasons: []reason{because("empty", "nothing was measured")}}
	}
	loads := d.Steps.Loads
	broken := slices.IndexFunc(steps, func(s step) bool { return !s.holds })
	shown := steps
	if broken >= 0 {
		shown = steps[:min(len(steps), steps[broken].number+1)]
	}
	var found opinion
	for _, s := range shown {
		found.notes = append(found.notes, s.text)
	}
	if broken >= 0 && steps[broken].number == 0 {
		found.verdict, found.reasons = result.Fail, []reason{because("limit", "not even the first step held: "+steps[broken].text)}
		return found
	}
	of := func(is func(result.Validity) bool) []reason {
		return invalidReasons(slices.DeleteFunc(slices.Clone(checks), func(c result.Validity) bool { return !is(c) }))
	}
	if ended := of(func(c result.Validity) bool { return c.Check == checkProcesses }); len(ended) > 0 {
		found.verdict, found.reasons = result.Fail, ended
		return found
	}
	found.reasons = of(func(c result.Validity) bool { return !slices.Contains(byStep, c.Kind) })
	if broken < 0 {
		found.reasons = append(found.reasons, because("limit", noneBroke))
	} else {
		at := steps[broken].number
		found.notes = append(found.notes, fmt.Sprintf("the limit: %s held, %s did not", loads[at-1], loads[at]))
	}
	found.verdict = result.Pass
	if len(found.reasons) > 0 {
		found.verdict = result.Inconclusive
	}
	return found
}
