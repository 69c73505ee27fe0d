// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"slices"

	"windtunnel/k6/internal/result"
)

// ofSections is the last word of a run whose rows are programs: what became of them says more than their operations do. Any
// other run keeps its own.
func ofSections(sections map[string]json.RawMessage, j Judged, found opinion) (opinion, error) {
	notes := found.notes
	if section, ok := sections["protocols"]; ok {
		var protocols result.Protocols
		if err := json.Unmarshal(section, &protocols); err != nil {
			return found, fmt.Errorf("protocols: %w", err)
		}
		found = ofProtocols(protocols, j, found.verdict)
	}
	if section, ok := sections["interop"]; ok {
		var interop result.Interop
		if err := json.Unmarshal(section, &interop); err != nil {
			return found, fmt.Errorf("interop: %w", err)
		}
		found = ofInterop(interop.Rows, j.Validity)
	}
	found.notes = notes
	return found, nil
}

// ofInterop: two programs of which neither is on trial, and that do not understand each other, are a finding. What fails is a
// program that does not understand itself, a hop that others can read, and whatever the candidate has a part in.
func ofInterop(rows []result.InteropRow, checks []result.Validity) opinion {
	const notEncrypted, candidate = "not encrypted", "candidate"
	var failed []reason
	tried := false
	for _, row := range rows {
		for _, cell := range row.Cells {
			if cell.Outcome == result.Impossible {
				continue
			}
			tried = true
			own := cell.Client == cell.Server || cell.Client == candidate || cell.Server == candidate
			if cell.Outcome == result.Interoperates || !own && cell.Outcome != notEncrypted {
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
	return ofPrograms(checks, len(failed) > 0, reasons)
}

func ofPrograms(checks []result.Validity, failed bool, reasons []reason) opinion {
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
