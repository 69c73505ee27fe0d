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

// The ways in which a side fails in a run.
const (
	notStarted = "did not start"
	notSetUp   = "failed its set-up"
	noResult   = "has no result"
	ended      = "a process of it ended"
	silent     = "answered nothing any more"
	cut        = "was cut"
	overrun    = "was too slow for the rate of its open loop"
	corrupted  = "failed its integrity check"
	noSuccess  = "had an operation without any success"
)

// ofSide are the validity checks that speak of the side, and what they say; all others are of the machine or of us.
var ofSide = map[string]string{"processes": ended, "target": silent, "complete": cut, "rounds": cut, "probes": cut, "dropped iterations": overrun}

// samplesCheck begins the names of checks that count samples. Too few samples are no fault of the machine: their figures are missing.
const samplesCheck = "samples: "

// Unusable says why a run's numbers are not used, "" where they are. A run that crossed a threshold
// is measured as well as any: leaving it out would hide the slow ones.
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

// fault is the first validity check that failed, apart from too few samples; one without a name where none did.
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

// spoilt reports whether the machine or the meter was at fault in a run, whatever else was.
func spoilt(m Measured) bool {
	return slices.ContainsFunc(failedChecks(m), func(check result.Validity) bool {
		return ofSide[check.Check] == "" && !strings.HasPrefix(check.Check, samplesCheck)
	})
}

func good(runs []Measured) []Measured {
	return slices.DeleteFunc(slices.Clone(runs), func(m Measured) bool { return Unusable(m) != "" })
}

// failing says in what way a run's side failed in it, "" where it did not: the first of these ways. Excused: the machine or the
// meter may have caused the failure, as its errors are of kinds that a busy machine can cause.
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
	case slices.ContainsFunc(m.Result.Integrity, func(i result.Integrity) bool { return i.OK != nil && !*i.OK }):
		return corrupted, false
	case how == "" && slices.ContainsFunc(m.Result.Judged(), func(op result.Operation) bool { return op.Requests > 0 && op.Success <= 0 }):
		how = noSuccess
	}
	return how, excused && how != ""
}

// failed is the way in which a side failed in a run, "" where it did not or where the failure is excused.
func failed(m Measured) string {
	if how, excused := failing(m); !excused {
		return how
	}
	return ""
}

// evidentErrors are the kinds of errors of a run that no busy machine and no meter causes: evidence against its side. A kind that a
// control met too is not the side's.
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

// kindsOf are the kinds of errors that some operations of a run met.
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

// disturbed reports whether a run says nothing of its side, as the machine or the measurement itself was at fault.
func disturbed(m Measured) bool { return failed(m) == "" && Unusable(m) != "" }
