// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"
	"strings"

	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
)

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
