// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"

	"windtunnel/k6/internal/result"
)

// opinion is a verdict, and why it is not pass.
type opinion struct {
	verdict string
	reasons []reason
	notes   []string
}

// decide is the verdict of a run. A system that ended by itself has failed. An interrupted run judges nothing else. Failed
// requests are a fact whatever the generator did, unless the meter failed by itself, or others used the CPUs and can have caused
// all of them. All else is only judged where the run is valid.
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

// aboutErrors: what is a fact whatever the generator did meanwhile. Round trips are a count, which no busy machine makes one more.
func aboutErrors(line result.Threshold) bool {
	if line.Metric == roundTripsMetric {
		return line.Value != nil
	}
	return line.Metric == "operation_failed" || line.Metric == "operation_errors" || line.Metric == "operation_anomalies"
}

func failedCheck(checks []result.Validity, is func(result.Validity) bool) bool {
	return slices.ContainsFunc(checks, func(c result.Validity) bool { return c.OK != nil && !*c.OK && is(c) })
}

// systemEnded: the system under test ended by itself, or answered nothing any more.
func systemEnded(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Check == checkProcesses || c.Kind == "system" })
}

// isInterrupted: a part of what was planned did not happen, or is not in the figures.
func isInterrupted(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Check == checkComplete || c.Kind == kindRunner })
}

func meterFailed(checks []result.Validity) bool {
	return failedCheck(checks, func(c result.Validity) bool { return c.Kind == meter })
}

// withIntegrity: data that was lost is a failure whatever the figures are, and a run whose data could not be counted does not
// pass; an interrupted run still judges nothing.
func withIntegrity(found opinion, integrity []result.Integrity, checks []result.Validity) opinion {
	broken, unknown := integrityReasons(integrity)
	if len(broken)+len(unknown) == 0 {
		return found
	}
	// What could not be counted mostly follows from the rest: an interrupt, a dead target.
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
