// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"slices"

	"windtunnel/k6/internal/result"
)

// ofPrograms is the verdict of a run whose rows are programs: the outcomes of the rows are more informative than the
// operations. Any other run keeps its verdict.
func ofPrograms(e Evidence, j Judged, found opinion) opinion {
	notes := found.notes
	if e.Protocols != nil {
		found = ofProtocols(*e.Protocols, e.Link, j, found.verdict)
	}
	if e.Interop != nil {
		found = ofInterop(e.Interop, j.Validity)
	}
	found.notes = notes
	return found
}

// ofInterop judges pairs of programs. If neither program is the candidate and the two do not understand each other, that
// is a finding, not a failure. It is a failure if a program does not understand itself, if others can read a hop, or if
// any pair with the candidate fails.
func ofInterop(rows []InteropRow, checks []result.Validity) opinion {
	const notEncrypted, candidate = "not encrypted", "candidate"
	var failed []reason
	tried := false
	for _, row := range rows {
		for _, cell := range row.Cells {
			if cell.Outcome == impossibleHere {
				continue
			}
			tried = true
			own := cell.Client == cell.Server || cell.Client == candidate || cell.Server == candidate
			if cell.Outcome == interoperates || !own && cell.Outcome != notEncrypted {
				continue
			}
			failed = append(failed, reason{
				kind: "row", name: cell.Outcome,
				text: fmt.Sprintf("%s: client %s, server %s: %s", row.Row, cell.Client, cell.Server, withDetail(cell.Outcome, cell.Detail)),
			})
		}
	}
	reasons := slices.Concat(failed, invalidReasons(checks))
	if !tried {
		reasons = append(reasons, because("empty", "no pair was tried"))
	}
	return programsEnded(checks, len(failed) > 0, reasons)
}

func programsEnded(checks []result.Validity, failed bool, reasons []reason) opinion {
	switch {
	case isInterrupted(checks):
		return opinion{verdict: result.Inconclusive, reasons: reasons}
	case failed:
		return opinion{verdict: result.Fail, reasons: reasons}
	case len(reasons) > 0:
		return opinion{verdict: result.Inconclusive, reasons: reasons}
	}
	return opinion{verdict: result.Pass}
}

func withDetail(outcome string, detail *string) string {
	if detail == nil || *detail == "" {
		return outcome
	}
	return outcome + ": " + *detail
}
