// SPDX-License-Identifier: AGPL-3.0-only

package judge

import "encoding/json"

// Protocols are proxy protocols, each through a client and a server: what decides of a run whose rows are these. Compared: a
// candidate was measured beside the baseline.
type Protocols struct {
	Compared bool          `json:"compared"`
	Rows     []ProtocolRow `json:"rows"`
}

// UnmarshalJSON takes what the judge decides by of what a script knows of its rows.
func (p *Protocols) UnmarshalJSON(data []byte) error {
	type plain Protocols
	return json.Unmarshal(data, (*plain)(p))
}

// Outcomes of a row, and of a pair of programs.
const (
	// measured without an error.
	ranWell = "measured"
	// withErrors: some operations failed.
	withErrors = "errors"
	// tooSlow: a candidate was many times slower than the baseline, and was cut short.
	tooSlow = "too slow"
	// impossibleHere is what a program has not, or this machine cannot do.
	impossibleHere = "impossible here"
	// interoperates is of two programs that understand each other.
	interoperates = "interoperates"
	// wrongWire is of a side whose hop did not show in each turn what the row says.
	wrongWire = "wrong wire"
)

// ProtocolRow is one protocol. Candidate is nil where only a baseline was measured.
type ProtocolRow struct {
	Row        string               `json:"row"`
	Baseline   ProtocolSide         `json:"baseline"`
	Candidate  *ProtocolSide        `json:"candidate"`
	Comparison []ProtocolComparison `json:"comparison"`
	// RoundTrips are those of the hop until a tunnel has opened, answered and closed; nil where they were not counted.
	RoundTrips *ProtocolRoundTrips `json:"round_trips"`
}

// ProtocolRoundTrips are counts of both sides, and whether the candidate's is within its target. A side without a count has nil, and
// OK is nil then.
type ProtocolRoundTrips struct {
	Baseline  *int  `json:"baseline"`
	Candidate *int  `json:"candidate"`
	OK        *bool `json:"ok"`
}

// ProtocolSide is how a row ended on one side, and what was measured; units are in the figures' names. Known is the fault
// that excuses its errors. Busy: a busy machine can have caused the outcome. Unchecked is why nobody knows what the hop of one of
// its turns showed.
type ProtocolSide struct {
	Outcome string             `json:"outcome"`
	Detail  *string            `json:"detail"`
	Known   *string            `json:"known"`
	Busy    bool               `json:"busy"`
	Figures map[string]*Spread `json:"figures"`

	Unchecked *string `json:"unchecked"`
}

// mayBeBusy reports whether others on the CPUs can have caused how the side ended. A program that did not start, or ended, is to
// blame for that itself.
func (s *ProtocolSide) mayBeBusy() bool {
	return s.Busy && (s.Outcome == withErrors || s.Outcome == tooSlow)
}

// Spread is over the turns of a row.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// ProtocolComparison is the candidate by the baseline, with its confidence interval. Bound is 0 and Judged "" where there is
// no target.
type ProtocolComparison struct {
	Target string   `json:"target"`
	Bound  float64  `json:"bound"`
	Ratio  *float64 `json:"ratio"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Judged string   `json:"judged"`
	// Pairs are turns: those of the look that decided it, else all.
	Pairs int `json:"pairs"`
	// ToDecide is about how many turns would; nil where it is decided, and where no number would.
	ToDecide *int `json:"to_decide"`
	// Lacks says which turns have no measurement of it; nil where all have one.
	Lacks *string `json:"lacks"`
}

// InteropRow is one protocol, and who understands whom in it.
type InteropRow struct {
	Row   string        `json:"row"`
	Cells []InteropCell `json:"cells"`
}

// InteropCell is the client of one program with the server of another.
type InteropCell struct {
	Client  string  `json:"client"`
	Server  string  `json:"server"`
	Outcome string  `json:"outcome"`
	Detail  *string `json:"detail"`
}
