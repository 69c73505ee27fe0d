// SPDX-License-Identifier: AGPL-3.0-only

package result

// Protocols are proxy protocols, each through a client and a server. Candidate and Targets are nil where only
// a baseline was measured. ExtraTurns are those with all sizes of writes, and with tunnels.
type Protocols struct {
	Baseline   Program  `json:"baseline"`
	Candidate  *Program `json:"candidate"`
	Turns      int      `json:"turns"`
	ExtraTurns int      `json:"extra_turns"`
	// FewestTurns tell a difference, and TurnsToMiss that a target is missed, of a number that was fixed before.
	FewestTurns int `json:"fewest_turns"`
	TurnsToMiss int `json:"turns_to_miss"`
	// Looks are when the rows were judged; none in runs that did not record them.
	Looks []ProtocolLook `json:"looks"`
	// MeasuringBoundCPUs is from which on probe and far end, a thread each, may be what bounds a transfer.
	MeasuringBoundCPUs float64          `json:"measuring_bound_cpus"`
	Targets            *ProtocolTargets `json:"targets"`
	Rows               []ProtocolRow    `json:"rows"`
	Coverage           struct {
		Inbound   []Coverage       `json:"inbound"`
		Outbound  []Coverage       `json:"outbound"`
		Protocols []ProtocolExtent `json:"protocols"`
	} `json:"coverage"`
}

// ProtocolLook is a judgement of all rows after so many turns of a row at most, nil where their number was fixed before.
// Confidence is that of its intervals, 0 to 1.
type ProtocolLook struct {
	Turns      *int    `json:"turns"`
	Confidence float64 `json:"confidence"`
}

// Program is what ran as client and server.
type Program struct {
	Engine  string  `json:"engine"`
	Binary  string  `json:"binary"`
	Version *string `json:"version"`
	// SHA256 is of the file, hexadecimal; nil in runs that did not record it.
	SHA256 *string `json:"sha256"`
	// Ran are the files that its processes really ran, which are others where it is a script; nil where nobody looked.
	Ran []RanProgram `json:"ran"`
}

// RanProgram is an executable file by its name, with its SHA-256, hexadecimal.
type RanProgram struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// ProtocolTargets are multiples of the baseline; FirstReply and RoundTrips are 0 in runs that had no such targets.
type ProtocolTargets struct {
	Throughput float64 `json:"throughput"`
	Latency    float64 `json:"latency"`
	FirstReply float64 `json:"first_reply"`
	RoundTrips float64 `json:"round_trips"`
	Memory     float64 `json:"memory"`
	Tolerance  float64 `json:"tolerance"`
}

// Measured is the outcome of a row that was measured without an error.
const Measured = "measured"

// ProtocolRow is one protocol.
type ProtocolRow struct {
	Row       string `json:"row"`
	Multiplex bool   `json:"multiplex"`
	// ToldMbitPerS is what the protocol is told to send at; nil where it finds out by itself.
	ToldMbitPerS *float64             `json:"told_mbit_per_s"`
	Baseline     ProtocolSide         `json:"baseline"`
	Candidate    *ProtocolSide        `json:"candidate"`
	Comparison   []ProtocolComparison `json:"comparison"`
	// RoundTrips are those of the hop until a tunnel has opened, answered and closed; nil where they were not counted.
	RoundTrips *ProtocolRoundTrips `json:"round_trips"`
	// Turns are of the side that has the most; 0 in runs that did not record it.
	Turns int `json:"turns"`
}

// ProtocolRoundTrips are counts of both sides, and whether the candidate's is within its target.
type ProtocolRoundTrips struct {
	Baseline  int  `json:"baseline"`
	Candidate int  `json:"candidate"`
	OK        bool `json:"ok"`
}

// ProtocolSide is how a row ended on one side, and what was measured; units are in the figures' names. Known is
// the fault that excuses its errors.
type ProtocolSide struct {
	Outcome string             `json:"outcome"`
	Detail  *string            `json:"detail"`
	Known   *string            `json:"known"`
	Figures map[string]*Spread `json:"figures"`
}

// ProtocolComparison is the candidate by the baseline, with its confidence interval.
type ProtocolComparison struct {
	Target    string   `json:"target"`
	Bound     float64  `json:"bound"`
	Ratio     *float64 `json:"ratio"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	Different bool     `json:"different"`
	Judged    string   `json:"judged"`
	// Pairs are turns: those of the look that decided it, else all.
	Pairs int `json:"pairs"`
	// ToDecide is about how many turns would; nil where it is decided, and where no number would.
	ToDecide *int `json:"to_decide"`
}

// Coverage is a type of sing-box, with the rows that cover it or why none does. Instead is what they measure in its place.
type Coverage struct {
	Type    string   `json:"type"`
	Rows    []string `json:"rows"`
	Reason  *string  `json:"reason"`
	Instead *string  `json:"instead"`
}

// ProtocolExtent is what a protocol needs besides a plain build of its engine, and what of it no row measures, with the reason.
type ProtocolExtent struct {
	Protocol string   `json:"protocol"`
	Rows     []string `json:"rows"`
	Needs    *string  `json:"needs"`
	LeftOut  []string `json:"left_out"`
}
