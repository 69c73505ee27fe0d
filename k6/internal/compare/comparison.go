// SPDX-License-Identifier: AGPL-3.0-only

// Package compare tells whether B differs from A: the same scenario, run several times on each. It
// refuses what cannot be compared and judges no more than the runs can carry.
package compare

import (
	"time"

	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Schema is what a compare.json says it is; schemas/comparison.schema.json describes it.
const Schema = "windtunnel.comparison/2"

// FileName is a comparison's name in its folder, PageName that of what it says for people.
const (
	FileName = "compare.json"
	PageName = "compare.md"
)

const (
	// goodShare of the runs of each side must be usable.
	goodShare = 0.8
	// tieBound in percent: what runs that did not take turns may differ by for no reason, and what a
	// control may.
	tieBound = 10.0
	// sharePoints of the gate's percents are a point of a share: with 10 %, one operation in 100.
	sharePoints = 0.1
)

// SecondaryOff is the word of a comparison whose secondary metrics were not to be judged.
const SecondaryOff = "off"

// The judgements.
const (
	Better    = "better"
	Worse     = "worse"
	NoneFound = "no significant difference"
	NotJudged = "not judged"
)

// The verdicts.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
)

// The doubts: why a comparison is inconclusive.
const (
	TooNoisy      = "too noisy"            // more pairs would not have decided within the most pairs that are made, or the machine disturbed the runs
	TooLittleTime = "too little time"      // more pairs decide
	IsMissing     = "something is missing" // a part of what is judged was not measured on a side: a gate fails on it
)

// Comparison is a compare.json. Units are in the names, or in the metric's unit.
type Comparison struct {
	Schema         string            `json:"schema"`
	ID             string            `json:"id"`
	Made           time.Time         `json:"made"`
	System         string            `json:"system"`
	Scenario       string            `json:"scenario"`
	Title          string            `json:"title"`
	Profile        string            `json:"profile"`
	Parameters     map[string]any    `json:"parameters"`
	Placement      *result.Placement `json:"placement"`
	Host           *result.Host      `json:"host"`
	Link           *result.Link      `json:"link,omitempty"` // the same on both sides; its ends' addresses are of the first run
	Windtunnel     string            `json:"windtunnel"`
	PlannedPairs   int               `json:"planned_pairs"`
	Interleaved    bool              `json:"interleaved"`
	DurationS      float64           `json:"duration_s"` // from the first run's start to the last one's end
	Looks          int               `json:"looks"`      // of one that ran until it knew; 0 where the pairs were fixed before
	Interrupted    bool              `json:"interrupted"`
	Confidence     float64           `json:"confidence"`
	WorseByPercent float64           `json:"worse_by_percent"`
	Secondary      string            `json:"secondary,omitempty"` // SecondaryOff: only primary metrics were judged, as the user asked
	Headline       string            `json:"headline"`
	A              Side              `json:"a"`
	B              Side              `json:"b"`
	Metrics        []Metric          `json:"metrics"`
	Failures       []Failure         `json:"failures"`
	Notes          []string          `json:"notes"`
	Verdict        string            `json:"verdict"`
	Doubt          string            `json:"doubt,omitempty"` // of an inconclusive one: TooNoisy, TooLittleTime or IsMissing
	Reasons        []string          `json:"reasons"`
	mute           []string          // metrics that could not have failed with so few pairs, a reason for each role
	missing        []string          // what was not measured, a reason each
	lost           []string          // primary metrics that B lost because none of its operations succeeded, a reason each
	noSecondary    string            // why secondary metrics cannot be judged, though nobody switched them off
	kept           bool              // A are kept runs, B is one run that is judged by them
	answers        []string          // what the sections of both sides found, a line each
}

// Side is what was run on one side. Testbed is nil where the system was up already.
type Side struct {
	Spec     string            `json:"spec"`
	Testbed  *result.Testbed   `json:"testbed"`
	Versions map[string]string `json:"versions"`
	// Build is what was built for the comparison, Contents SHA-256 of what ran by the name that its testbed has for it.
	Build    *builds.Build     `json:"build,omitempty"`
	Contents contents.Contents `json:"contents,omitempty"`
	Runs     []SideRun         `json:"runs"`
}

// SideRun is one run. Message says why it is not used, or what is to know of it. Failed: its side failed in it.
type SideRun struct {
	ID      string     `json:"id"`
	File    string     `json:"file"`
	Start   *time.Time `json:"start"`
	Pair    int        `json:"pair"` // from 1; 0 without
	Outcome string     `json:"outcome"`
	Used    bool       `json:"used"`
	Failed  bool       `json:"failed"`
	Message string     `json:"message"`
}

// The roles of metrics: what they can do to the verdict.
const (
	Primary   = "primary"   // must be within the bound
	Secondary = "secondary" // breaks the gate with evidence that is corrected for their number
	Shown     = "shown"     // decides nothing
)

// Metric is one row. P is nil where there was nothing to test, Outcome "" where nothing was judged. Gate: the gate is
// broken by it. WorseAtMost is what it may be worse by, in the scale of WorseByPercent or in points: more would have been
// seen; nil where the pairs are too few to tell.
type Metric struct {
	Operation   string           `json:"operation"` // "" for the whole run
	Title       string           `json:"title"`
	Name        string           `json:"name"`
	Unit        string           `json:"unit"`
	Better      string           `json:"better"` // higher, lower
	Control     bool             `json:"control"`
	Role        string           `json:"role"`
	A           Summary          `json:"a"`
	B           Summary          `json:"b"`
	Change      *Change          `json:"change"`
	P           *float64         `json:"p"`
	Judgement   string           `json:"judgement"`
	Outcome     string           `json:"outcome"`
	Gate        bool             `json:"gate"`
	WorseAtMost *float64         `json:"worse_at_most"`
	MorePairs   *int             `json:"more_pairs"` // estimated to decide an unclear one; -1: more than can be made
	Notes       []string         `json:"notes"`
	differs     bool             // its interval leaves out 0
	drifted     bool             // a control that differs as a system might
	evidence    bool             // of where the time went
	shift       difference.Shift // of the runs that are used
	gate        difference.Shift // with the pairs in which B failed; N 0 where there are none
	cautious    difference.Shift // also with the pairs that were left out; N 0 where there are none
	allowance   float64          // added to the bound, in its scale
}

// Summary is the values of a side, in the order of the runs, and their median.
type Summary struct {
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
}

// Change is B against A: in percent of A, or for shares in percentage points: Hodges and Lehmann's estimate and its
// interval, nil where there are too few runs. Paired: of the pairs' changes; else of all runs of B against all of A.
type Change struct {
	Unit     string   `json:"unit"` // percent, points
	Paired   bool     `json:"paired"`
	Pairs    int      `json:"pairs"`
	Estimate float64  `json:"estimate"`
	Lo       *float64 `json:"lo"`
	Hi       *float64 `json:"hi"`
}

// Failure is one way in which runs or operations fail, and how often each side did. P is of B failing more, nil for runs,
// which are counted. Outcome: within where B does not fail more, beyond where it does and breaks the gate, unclear where it
// may be chance, which is no pass either.
type Failure struct {
	Kind    string   `json:"kind"`
	Of      string   `json:"of"` // runs, operations
	A       Tally    `json:"a"`
	B       Tally    `json:"b"`
	P       *float64 `json:"p"`
	Outcome string   `json:"outcome"`
	excused int64    // of B, in disturbed runs, of a kind that a busy machine causes
}

// Tally is how many failed of how many.
type Tally struct {
	Failed int64 `json:"failed"`
	Of     int64 `json:"of"`
}

// Measured is one run of a scenario, SYSTEM/NAME, to compare, as bench or a file gave it. Result is nil
// where there is none. Pair, from 1, joins it with a run of the other side; 0 joins it with none.
type Measured struct {
	Scenario string
	File     string
	Outcome  string
	Cause    run.Cause // of a set-up that failed
	Reasons  []string
	Pair     int
	Streamed *bool // nil where no record tells
	Result   *result.Result
}
