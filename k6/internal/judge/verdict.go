// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"slices"

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
