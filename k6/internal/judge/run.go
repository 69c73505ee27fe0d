// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/profiles"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Ended is the outcome of a k6 process that wrote a result, from its exit code and the result. why is the reason if the
// result has none. how describes how k6 ended, message is its last message. A k6 that failed never passes.
func Ended(code int, how, message string, measured result.Result) (outcome, why string) {
	switch {
	case measured.Verdict != result.Pass:
		return measured.Verdict, ""
	case code == exit.Fail && !profiles.LooksForLimit(measured.Run.Profile):
		return run.Fail, "k6 says that a threshold failed: " + message
	case code != exit.Pass && code != exit.Fail:
		return run.Inconclusive, how + ": " + message
	}
	return run.Pass, ""
}

// Outcome is the outcome of a scenario, from the run's record and the verdict of its result: the record knows of
// interrupts and of k6's exit code.
func Outcome(recorded, verdict string) string {
	switch recorded {
	case run.Interrupted, run.SetupFailed, run.Skipped, run.LeftOut, run.Fail:
		return recorded
	case run.Inconclusive:
		if verdict == result.Fail {
			return verdict
		}
		return recorded
	}
	return verdict // planned or running: the bench was killed before it updated the record
}

// AllLeftOut reports whether nothing was measured, because this machine can run none of the planned scenarios.
func AllLeftOut(outcomes []string) bool {
	return len(outcomes) > 0 && !slices.ContainsFunc(outcomes, func(outcome string) bool { return outcome != run.LeftOut })
}

// ExitCode is the exit code of a whole run, from the outcomes of its scenarios and from the code that its record adds,
// for example for a full disk; nil without such a code. Left-out scenarios count only if nothing else was planned and
// the record has no code.
func ExitCode(outcomes []string, recorded *int) int {
	if len(outcomes) == 0 {
		return exit.Inconclusive
	}
	var codes []int
	if recorded != nil {
		codes = append(codes, *recorded)
	}
	for _, outcome := range outcomes {
		if outcome != run.LeftOut || AllLeftOut(outcomes) && recorded == nil {
			codes = append(codes, run.ExitCode(outcome))
		}
	}
	return exit.Worst(codes...)
}

// Spoilt says why only the machine, the generator and a slow link made a result inconclusive, so that it may pass if it is
// measured again. It is "" for any other result: an error of the system, or too few samples, would come again. Errors that other
// programs on the CPUs may have caused count as the machine's.
func Spoilt(measured result.Result) string {
	if measured.Verdict != result.Inconclusive || len(measured.Reasons) == 0 {
		return ""
	}
	for _, reason := range measured.Reasons {
		ofMachine := reason.BusyMachine || slices.Contains([]string{result.Machine, result.Generator}, reason.Kind)
		if ofMachine {
			continue
		}
		texts := reason.All // of several reasons, Text has the first
		if len(texts) == 0 {
			texts = []string{reason.Text}
		}
		isOther := func(text string) bool { return !isSlowLink(text) }
		if reason.Kind != meter || slices.ContainsFunc(texts, isOther) {
			return ""
		}
	}
	return measured.Reasons[0].Text // causes come first, and the machine is a cause
}
