// SPDX-License-Identifier: AGPL-3.0-only

package judge

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
