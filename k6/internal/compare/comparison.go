// SPDX-License-Identifier: AGPL-3.0-only

// Package compare tells whether B differs from A: the same scenario, run several times on each. It
// refuses what cannot be compared and judges no more than the runs can carry.
package compare

import (
	"time"

	"windtunnel/k6/internal/result"
)

// Schema is what a compare.json says it is; schemas/comparison.schema.json describes it.
const Schema = "windtunnel.comparison/1"

// FileName is a comparison's name in its folder, PageName that of what it says for people.
const (
	FileName = "compare.json"
	PageName = "compare.md"
)

const (
	// confidence of all intervals; alpha is what a p-value must be below.
	confidence = 0.95
	alpha      = 0.05
	// leastRuns of each side: with fewer there is no 95 % interval of a median.
	leastRuns = 6
	// goodShare of the runs of each side must be usable.
	goodShare = 0.8
	// tieBound in percent: what runs that did not take turns may differ by for no reason, and what a
	// control may.
	tieBound = 10.0
	// sharePoints of the gate's percents are a point of a share: with 10 %, one operation in 100.
	sharePoints = 0.1
)

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
	Windtunnel     string            `json:"windtunnel"`
	PlannedPairs   int               `json:"planned_pairs"`
	Interleaved    bool              `json:"interleaved"`
	Interrupted    bool              `json:"interrupted"`
	Confidence     float64           `json:"confidence"`
	Alpha          float64           `json:"alpha"`
	WorseByPercent float64           `json:"worse_by_percent"`
	A              Side              `json:"a"`
	B              Side              `json:"b"`
	Metrics        []Metric          `json:"metrics"`
	Notes          []string          `json:"notes"`
	Verdict        string            `json:"verdict"`
	Reasons        []string          `json:"reasons"`
	bottlenecks    []string          // what the runs name, a line for each operation; each run's result has it
}

// Side is what was run on one side. Testbed is nil where the system was up already.
type Side struct {
	Spec     string            `json:"spec"`
	Testbed  *result.Testbed   `json:"testbed"`
	Versions map[string]string `json:"versions"`
	Runs     []SideRun         `json:"runs"`
}

// SideRun is one run. Message says why it is not used, or what is to know of it.
type SideRun struct {
	ID      string     `json:"id"`
	File    string     `json:"file"`
	Start   *time.Time `json:"start"`
	Pair    int        `json:"pair"` // from 1; 0 without
	Outcome string     `json:"outcome"`
	Used    bool       `json:"used"`
	Message string     `json:"message"`
}

// Metric is one row. P is nil where there was nothing to test. Gate: the gate is broken by it.
type Metric struct {
	Operation string   `json:"operation"` // "" for the whole run
	Title     string   `json:"title"`
	Name      string   `json:"name"`
	Unit      string   `json:"unit"`
	Better    string   `json:"better"` // higher, lower
	Control   bool     `json:"control"`
	A         Summary  `json:"a"`
	B         Summary  `json:"b"`
	Change    *Change  `json:"change"`
	P         *float64 `json:"p"`
	Judgement string   `json:"judgement"`
	Gate      bool     `json:"gate"`
	Notes     []string `json:"notes"`
	drifted   bool     // a control that differs as a system might
	evidence  bool     // of where the time went: it breaks no gate
}

// Summary is the median of a side and its confidence interval; a bound is nil where there are too
// few runs for it. Values are in the order of the runs.
type Summary struct {
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
	Lo     *float64  `json:"lo"`
	Hi     *float64  `json:"hi"`
}

// Change is B against A: in percent of A, or for shares in percentage points. Paired: the median and
// its interval are of the changes of the pairs; else the interval is from the two sides' intervals.
type Change struct {
	Unit   string   `json:"unit"` // percent, points
	Paired bool     `json:"paired"`
	Pairs  int      `json:"pairs"`
	Median float64  `json:"median"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
}

// Measured is one run of a scenario, SYSTEM/NAME, to compare, as bench or a file gave it. Result is nil
// where there is none. Pair, from 1, joins it with a run of the other side; 0 joins it with none.
type Measured struct {
	Scenario string
	File     string
	Outcome  string
	Reasons  []string
	Pair     int
	Streamed *bool // nil where no record tells
	Result   *result.Result
}
