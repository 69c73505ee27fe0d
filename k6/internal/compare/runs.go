// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// The kinds of failure of a side in a run.
const (
	notStarted = "did not start"
	notSetUp   = "failed its set-up"
	noResult   = "has no result"
	ended      = "one of its processes ended"
	silent     = "stopped answering"
	cut        = "was cut"
	overrun    = "was too slow for the rate of its open loop"
	corrupted  = "failed its integrity check"
	noSuccess  = "had an operation without any success"
)

// ofSide maps the validity checks about the side to the kind of failure; all other checks are about the machine or the
// generator.
var ofSide = map[string]string{"processes": ended, "target": silent, "complete": cut, "rounds": cut, "probes": cut, "dropped iterations": overrun}

// samplesCheck is the prefix of the checks that count samples. Too few samples are no fault of the machine: their
// figures are missing.
const samplesCheck = "samples: "

// Unusable says why a run's figures are not used, "" if they are used. A run that crossed a threshold is used: excluding
// it would hide slow runs.
func Unusable(m Measured) string {
	why := strings.Join(m.Reasons, "; ")
	check := fault(m)
	switch {
	case m.Result == nil:
		return cmp.Or(why, "there is no result")
	case check.Check != "":
		return check.Check + ": " + check.Detail
	case m.Outcome == run.Pass || m.Outcome == run.Fail || m.Outcome == result.Inconclusive && tooFewSamples(m):
		return ""
	}
	return cmp.Or(why, m.Outcome)
}

func failedChecks(m Measured) []result.Validity {
	if m.Result == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.Result.Validity), func(check result.Validity) bool { return check.OK == nil || *check.OK })
}

// fault is the first failed validity check, except too few samples; its name is empty if no check failed.
func fault(m Measured) result.Validity {
	for _, check := range failedChecks(m) {
		if !strings.HasPrefix(check.Check, samplesCheck) {
			return check
		}
	}
	return result.Validity{}
}

func tooFewSamples(m Measured) bool {
	return slices.ContainsFunc(failedChecks(m), func(check result.Validity) bool { return strings.HasPrefix(check.Check, samplesCheck) })
}

// spoilt reports whether the machine or the generator was at fault in a run, among other faults.
func spoilt(m Measured) bool {
	return slices.ContainsFunc(failedChecks(m), func(check result.Validity) bool {
		return ofSide[check.Check] == "" && !strings.HasPrefix(check.Check, samplesCheck)
	})
}

func good(runs []Measured) []Measured {
	return slices.DeleteFunc(slices.Clone(runs), func(m Measured) bool { return Unusable(m) != "" })
}

// failing returns the first kind of failure of a run's side, "" if the side did not fail. excused says that the machine
// or the generator may have caused the failure: a busy machine can cause these kinds of errors.
func failing(m Measured) (how string, excused bool) {
	switch {
	case m.Outcome == run.LeftOut || m.Outcome == run.Interrupted || m.Cause == run.OfBench:
		return "", false
	case m.Cause == run.OfTestbed:
		return notStarted, false
	case m.Cause == run.OfSetUp:
		return notSetUp, false
	case m.Result == nil:
		return noResult, false
	}
	for _, check := range failedChecks(m) {
		if kind := ofSide[check.Check]; kind != "" && how != ended && how != silent {
			how = kind
		}
	}
	excused = spoilt(m) && len(evidentErrors(m)) == 0 && !slices.ContainsFunc(m.Result.Judged(), result.Operation.FailedAll)
	switch {
	case how == ended || how == silent:
		return how, false
	case how != "" && !excused:
		return how, false
	case slices.ContainsFunc(m.Result.Integrity, result.Integrity.IsBroken):
		return corrupted, false
	case how == "" && slices.ContainsFunc(m.Result.Judged(), func(op result.Operation) bool { return op.Requests > 0 && op.Success <= 0 }):
		how = noSuccess
	}
	return how, excused && how != ""
}

// failed is the kind of failure of a run's side, "" if the side did not fail or the failure is excused.
func failed(m Measured) string {
	if how, excused := failing(m); !excused {
		return how
	}
	return ""
}

// evidentErrors are the run's kinds of errors that neither a busy machine nor the generator causes: they are evidence
// against the side. A kind that a control also met is no error of the side.
func evidentErrors(m Measured) []string {
	of := kindsOf(m, func(r *result.Result, op result.Operation) bool { return !r.IsControl(op.Name) })
	control := controlErrors(m)
	return slices.DeleteFunc(of, func(kind string) bool {
		return kinds.All[kind].BusyMachine || kinds.All[kind].OwnLimit || slices.Contains(control, kind)
	})
}

func controlErrors(m Measured) []string {
	return kindsOf(m, func(r *result.Result, op result.Operation) bool { return r.IsControl(op.Name) })
}

// kindsOf returns the kinds of errors of the wanted operations of a run.
func kindsOf(m Measured, wanted func(*result.Result, result.Operation) bool) []string {
	if m.Result == nil {
		return nil
	}
	found := map[string]bool{}
	for _, op := range m.Result.Operations {
		for kind, n := range op.Errors {
			if n > 0 && wanted(m.Result, op) {
				found[kind] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// disturbed reports whether a run is no evidence about its side, because the machine or the measurement was at fault.
func disturbed(m Measured) bool { return failed(m) == "" && Unusable(m) != "" }
