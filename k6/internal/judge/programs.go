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

// Protocols has the rows of proxy protocols, each with a client and a server; the rows decide the verdict of their run.
// Compared says that a candidate was measured beside the baseline.
type Protocols struct {
	Compared bool          `json:"compared"`
	Rows     []ProtocolRow `json:"rows"`
}

// Outcomes of a row, and of a pair of programs.
const (
	// ranWell means measured without an error.
	ranWell = "measured"
	// withErrors means that some operations failed.
	withErrors = "errors"
	// tooSlow means that a candidate was many times slower than the baseline, and was stopped early.
	tooSlow = "too slow"
	// impossibleHere means that a program lacks the feature, or this machine cannot run it.
	impossibleHere = "impossible here"
	// interoperates means that two programs understand each other.
	interoperates = "interoperates"
	// wrongWire means that the traffic of a side's hop did not match the row in each turn.
	wrongWire = "wrong wire"
)

// ProtocolRow is one protocol. Candidate is nil where only a baseline was measured.
type ProtocolRow struct {
	Row        string               `json:"row"`
	Baseline   ProtocolSide         `json:"baseline"`
	Candidate  *ProtocolSide        `json:"candidate"`
	Comparison []ProtocolComparison `json:"comparison"`
	// RoundTrips are the hop's round trips until a tunnel has opened, answered and closed; nil if they were not counted.
	RoundTrips *ProtocolRoundTrips `json:"round_trips"`
}

// ProtocolRoundTrips are the counts of both sides, and whether the candidate's count meets its target. Without a count a
// side is nil, and OK is nil too.
type ProtocolRoundTrips struct {
	Baseline  *int  `json:"baseline"`
	Candidate *int  `json:"candidate"`
	OK        *bool `json:"ok"`
}

// ProtocolSide is the outcome of a row on one side, with its figures; units are in the figures' names. Known is the
// known fault that excuses its errors. Busy says that a busy machine may have caused the outcome. Unchecked says why the
// traffic of the hop is unknown in a turn.
type ProtocolSide struct {
	Outcome string             `json:"outcome"`
	Detail  *string            `json:"detail"`
	Known   *string            `json:"known"`
	Busy    bool               `json:"busy"`
	Figures map[string]*Spread `json:"figures"`

	Unchecked *string `json:"unchecked"`
}

// mayBeBusy reports whether other programs on the CPUs may have caused the outcome of a side. A program that did not
// start, or ended, failed on its own.
func (s *ProtocolSide) mayBeBusy() bool {
	return s.Busy && (s.Outcome == withErrors || s.Outcome == tooSlow)
}

// Spread is the spread of a figure over the turns of a row.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// ProtocolComparison is the ratio of the candidate to the baseline, with its confidence interval. Without a target,
// Bound is 0 and Judged is "".
type ProtocolComparison struct {
	Target string   `json:"target"`
	Bound  float64  `json:"bound"`
	Ratio  *float64 `json:"ratio"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Judged string   `json:"judged"`
	// Pairs is the number of turns at the look that decided, or of all turns.
	Pairs int `json:"pairs"`
	// ToDecide estimates how many turns would decide; nil if it is decided, or if no number would decide.
	ToDecide *int `json:"to_decide"`
	// Lacks says which turns have no measurement; nil if all have one.
	Lacks *string `json:"lacks"`
}

// InteropRow is one protocol, with each pair of programs.
type InteropRow struct {
	Row   string        `json:"row"`
	Cells []InteropCell `json:"cells"`
}

// InteropCell is the client of one program with the server of another program.
type InteropCell struct {
	Client  string  `json:"client"`
	Server  string  `json:"server"`
	Outcome string  `json:"outcome"`
	Detail  *string `json:"detail"`
}
