// SPDX-License-Identifier: AGPL-3.0-only

// Package compare says whether B differs from A: the same scenario, run several times on each. It rejects runs that
// cannot be compared, and judges only what the number of runs supports.
package compare

import (
	"strings"
	"time"

	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Schema is the value of "schema" in a compare.json; schemas/comparison.schema.json describes the file.
const Schema = "windtunnel.comparison/2"

// FileName is the name of a comparison's file in its folder, PageName and HTMLName are those of its pages.
const (
	FileName = "compare.json"
	PageName = "compare.md"
	HTMLName = "compare.html"
)

const (
	// goodShare is the share of each side's runs that must be usable.
	goodShare = 0.8
	// tieBound is in percent: the change that runs without turns may show for no reason. A control may also change by
	// this much.
	tieBound = 10.0
	// sharePoints converts the gate's percent to percentage points of a share: a bound of 10 % allows one operation in
	// 100.
	sharePoints = 0.1
)

// SecondaryOff is the word of a comparison that did not judge secondary metrics, as requested.
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
	TooNoisy      = "too noisy"            // even the largest number of pairs would not have decided, or the machine disturbed the runs.
	TooLittleTime = "too little time"      // more pairs would decide.
	IsMissing     = "something is missing" // a part was not measured on a side, which fails the gate.
)

// Comparison is a compare.json. Units are in the field names, or in the metric's unit.
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
	Link           *result.Link      `json:"link,omitempty"` // the same on both sides; the addresses of its ends are those of the first run
	Windtunnel     string            `json:"windtunnel"`
	PlannedPairs   int               `json:"planned_pairs"`
	Interleaved    bool              `json:"interleaved"`
	DurationS      float64           `json:"duration_s"` // from the first run's start to the last run's end
	Looks          int               `json:"looks"`      // of a comparison that ran until it knew; 0 if the number of pairs was fixed
	Interrupted    bool              `json:"interrupted"`
	Confidence     float64           `json:"confidence"`
	WorseByPercent float64           `json:"worse_by_percent"`
	Secondary      string            `json:"secondary,omitempty"` // SecondaryOff: only primary metrics were judged, as requested
	Headline       string            `json:"headline"`
	A              Side              `json:"a"`
	B              Side              `json:"b"`
	Metrics        []Metric          `json:"metrics"`
	Failures       []Failure         `json:"failures"`
	Notes          []string          `json:"notes"`
	Verdict        string            `json:"verdict"`
	Doubt          string            `json:"doubt,omitempty"` // of an inconclusive verdict: TooNoisy, TooLittleTime or IsMissing
	Reasons        []string          `json:"reasons"`
	mute           []string          // metrics that cannot fail with this few pairs, one reason for each role.
	missing        []string          // what was not measured, one reason each.
	gaps           gaps              // figures of sections that some runs lack.
	unknown        gaps              // figures of sections that no run has, by their role.
	ofOneSide      gaps              // metrics that only A or only B has.
	lost           []string          // primary metrics without a value in B because all operations failed, one reason each.
	noSecondary    string            // why secondary metrics cannot be judged, although they were requested.
	kept           bool              // A are kept runs that judge the one run B.
	answers        []string          // findings of both sides' sections, one line each.
}

// Side describes the runs of one side. Testbed is nil if the system was up already.
type Side struct {
	Spec     string            `json:"spec"`
	Testbed  *result.Testbed   `json:"testbed"`
	Versions map[string]string `json:"versions"`
	// Build is the side's build for the comparison. Contents has the SHA-256 of each program, by its name in the
	// testbed.
	Build    *builds.Build     `json:"build,omitempty"`
	Contents contents.Contents `json:"contents,omitempty"`
	Runs     []SideRun         `json:"runs"`
}

// SideRun is one run. Message says why the run is not used, or another remark. Failed says that its side failed in it.
type SideRun struct {
	ID      string     `json:"id"`
	File    string     `json:"file"`
	Start   *time.Time `json:"start"`
	Pair    int        `json:"pair"` // from 1; 0 without a pair
	Outcome string     `json:"outcome"`
	Used    bool       `json:"used"`
	Failed  bool       `json:"failed"`
	Message string     `json:"message"`
}

// The roles of metrics: their effect on the verdict.
const (
	Primary   = "primary"   // must be within the bound.
	Secondary = "secondary" // breaks the gate if the evidence, corrected for the number of metrics, is strong enough.
	Shown     = "shown"     // has no effect.
)

// Metric is one row. P is nil without a test, Outcome is "" if nothing was judged. Gate says that the metric breaks the
// gate. WorseAtMost is the largest loss that the data allow, on the scale of WorseByPercent or in points: a larger loss
// would have been seen. It is nil with too few pairs.
type Metric struct {
	Operation   string           `json:"operation"` // "" for the whole run
	Title       string           `json:"title"`
	Name        string           `json:"name"`
	Unit        string           `json:"unit"`
	Better      string           `json:"better"` // higher or lower
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
	MorePairs   *int             `json:"more_pairs"` // estimated pairs to decide an unclear metric; -1: more than the limit
	Notes       []string         `json:"notes"`
	differs     bool             // its interval excludes 0.
	drifted     bool             // a control with a difference like that of a system.
	evidence    bool             // explains where the time went.
	shift       difference.Shift // of the usable runs.
	gate        difference.Shift // including the pairs in which B failed; N is 0 without such pairs.
	cautious    difference.Shift // including the excluded pairs too; N is 0 without such pairs.
	allowance   float64          // added to the bound, on its scale.
}

// Summary has the values of a side, in the order of the runs, and their median.
type Summary struct {
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
}

// Change is the change from A to B, in percent of A, or in percentage points for shares. It is the Hodges-Lehmann
// estimate and its interval, nil with too few runs. Paired says that it uses the pairs' changes; otherwise it uses all
// runs of B against all runs of A.
type Change struct {
	Unit     string   `json:"unit"` // percent or points
	Paired   bool     `json:"paired"`
	Pairs    int      `json:"pairs"`
	Estimate float64  `json:"estimate"`
	Lo       *float64 `json:"lo"`
	Hi       *float64 `json:"hi"`
}

// Failure is one way in which runs or operations fail, with the count of each side. P is the p-value for more failures
// of B, nil for runs, which are only counted. Outcome is `within` if B does not fail more, `beyond` if B fails more and
// so breaks the gate, and `unclear` if chance may explain the difference, which is no pass either.
type Failure struct {
	Kind    string   `json:"kind"`
	Of      string   `json:"of"` // runs or operations
	A       Tally    `json:"a"`
	B       Tally    `json:"b"`
	P       *float64 `json:"p"`
	Outcome string   `json:"outcome"`
	excused int64    // failures of B in disturbed runs, of a kind that a busy machine causes.
}

// Tally is a number of failures and the total.
type Tally struct {
	Failed int64 `json:"failed"`
	Of     int64 `json:"of"`
}

// Measured is one run of a scenario, SYSTEM/NAME, from bench or from a file. Result is nil without a result. Pair, from
// 1, joins the run with a run of the other side; 0 means no pair.
type Measured struct {
	Scenario string
	File     string
	Outcome  string
	Cause    run.Cause // of a failed set-up.
	Reasons  []string
	Pair     int
	Streamed *bool // nil if no record says.
	Result   *result.Result
}

// limits are large enough for the comparisons of all scenarios.
var limits = influx.Limits{Batches: 100, Bytes: 1 << 20}

// Stream writes the judgement of each comparison to InfluxDB, in the measurement comparisons. It returns a line if a
// write failed, "" otherwise.
func Stream(config influx.Config, all []Comparison) string {
	return influx.Write(config, limits, func(sender *influx.Sender) {
		var b influx.Batch
		for _, c := range all {
			c.point(&b)
		}
		sender.Send(&b)
	})
}

func (c Comparison) point(b *influx.Batch) {
	b.Add("comparisons", influx.Tags{"testid": c.ID, "profile": c.Profile, "system": c.System, "scenario": c.Scenario},
		influx.Fields{"verdict": c.Verdict, "headline": c.Headline, "reasons": strings.Join(c.Reasons, "\n"), "a": c.A.Spec, "b": c.B.Spec,
			"pairs": int64(min(len(c.A.Runs), len(c.B.Runs)))}, c.Made)
}
