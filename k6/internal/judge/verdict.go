// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"
	"strings"

	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
)

// opinion is a verdict, with the reasons if it is not pass.
type opinion struct {
	verdict string
	reasons []reason
	notes   []string
}

// decide is the verdict of a run, in this order. A system that ended has failed. An interrupted run is judged no
// further. Failed requests count whatever the generator did, unless the generator failed, or other programs on the CPUs
// may have caused all failures. The rest is judged only if the run is valid.
func decide(thresholds []result.Threshold, checks []result.Validity, rows []result.Operation, controls []result.Control) opinion {
	invalid, crossed := invalidReasons(checks), crossedReasons(thresholds)
	reasons := slices.Concat(errorReasons(rows, controls), crossed, invalid)
	failed := slices.ContainsFunc(thresholds, func(line result.Threshold) bool { return !line.OK && aboutErrors(line) })
	switch {
	case systemEnded(checks):
		return opinion{verdict: result.Fail, reasons: reasons}
	case isInterrupted(checks):
		return opinion{verdict: result.Inconclusive, reasons: reasons}
	case failed && !meterFailed(checks) && !excuses(thresholds, checks, rows):
		return opinion{verdict: result.Fail, reasons: reasons}
	case len(invalid) > 0:
		return opinion{verdict: result.Inconclusive, reasons: reasons}
	case len(crossed) > 0:
		return opinion{verdict: result.Fail, reasons: reasons}
	}
	return opinion{verdict: result.Pass}
}

func failedCheck(checks []result.Validity, is func(result.Validity) bool) bool {
	return slices.ContainsFunc(checks, func(c result.Validity) bool { return c.OK != nil && !*c.OK && is(c) })
}

// systemEnded reports whether the system under test ended or stopped answering.
func systemEnded(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Check == checkProcesses || c.Kind == "system" })
}

// isInterrupted reports whether a part of the plan did not happen, or is missing in the figures.
func isInterrupted(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Check == checkComplete || c.Kind == kindRunner })
}

func meterFailed(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Kind == meter })
}

// withIntegrity adds integrity to a verdict. Lost data is a failure whatever the figures are. A run whose data could not
// be counted does not pass. An interrupted run is still not judged.
func withIntegrity(found opinion, integrity []result.Integrity, checks []result.Validity) opinion {
	broken, unknown := integrityReasons(integrity)
	if len(broken)+len(unknown) == 0 {
		return found
	}
	// If data could not be counted, the reason is mostly an earlier one: an interrupt, or a dead target.
	found.reasons = slices.Concat(broken, found.reasons, unknown)
	switch {
	case isInterrupted(checks):
	case len(broken) > 0:
		found.verdict = result.Fail
	case found.verdict == result.Pass:
		found.verdict = result.Inconclusive
	}
	return found
}

// checkControls is the check of operations that bypass the system.
const checkControls = "controls"

// isDisturbed reports whether other programs used the measured CPUs.
func isDisturbed(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Kind == result.Machine })
}

// isUnsettled reports whether a turn of a row was disturbed by other programs even in its repetition.
func isUnsettled(repeated []result.Repeated, row string) bool {
	return slices.ContainsFunc(repeated, func(r result.Repeated) bool {
		return !r.Settled && strings.HasPrefix(r.Part, row+", turn ")
	})
}

// allBusy reports whether a busy machine may have caused all failures. A failure without a kind is evidence against the
// system, and so is an operation that never succeeded.
func allBusy(rows []result.Operation) bool {
	return !slices.ContainsFunc(rows, func(row result.Operation) bool {
		var named int64
		for kind, count := range row.Errors {
			if !kinds.All[kind].BusyMachine {
				return true
			}
			named += count
		}
		return named < row.Requests-row.Success || row.FailedAll()
	})
}

// excuses reports whether other programs on the CPUs may have caused all failures that crossed thresholds. Round trips
// are a count, which a busy machine does not change.
func excuses(thresholds []result.Threshold, checks []result.Validity, rows []result.Operation) bool {
	if !isDisturbed(checks) || !allBusy(rows) {
		return false
	}
	return !slices.ContainsFunc(thresholds, func(line result.Threshold) bool {
		if line.OK || !aboutErrors(line) {
			return false
		}
		row, found := find(rows, line.Operation)
		return !found || len(row.Errors) == 0 || line.Metric == roundTripsMetric
	})
}

// excusedLimit makes the limit unknown if the first step failed and other programs on the CPUs may have caused that.
func excusedLimit(found opinion, j Judged) opinion {
	ofLimit := func(r reason) bool { return r.kind == "limit" }
	if found.verdict == result.Fail && slices.ContainsFunc(found.reasons, ofLimit) && excuses(nil, j.Validity, j.Operations) {
		found.verdict, found.reasons = result.Inconclusive, append(found.reasons, besideSteps(j.Validity)...)
	}
	return found
}

// isSlowLink reports whether a reason of the kind meter is a link that was too slow, and nothing worse.
func isSlowLink(text string) bool {
	return strings.HasPrefix(text, linkOf("")) && strings.Contains(text, linkSlow) && !strings.Contains(text, linkDied) && !strings.Contains(text, lossUnknown)
}

// markBusy marks the reasons of an inconclusive run that other programs on the CPUs may have caused.
func markBusy(found opinion, j Judged) opinion {
	if found.verdict != result.Inconclusive || !isDisturbed(j.Validity) {
		return found
	}
	all := allBusy(j.Operations)
	for i, r := range found.reasons {
		switch r.kind {
		case "error", "threshold", "samples", "probe":
			found.reasons[i].busy = all
		case "limit":
			found.reasons[i].busy = all && r.text != noneBroke
		case meter:
			slowLink := strings.HasPrefix(r.text, checkLink) && !strings.Contains(r.text, linkDied)
			found.reasons[i].busy = slowLink || all && strings.HasPrefix(r.text, checkControls+": ")
		}
	}
	return found
}
