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

// FileName names a comparison's file in its folder. PageName and HTMLName name its pages.
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

// Comparison is a compare.json: one scenario, several runs of each side. Units are in the field names, or in the
// metric's unit.
type Comparison struct {
	Schema string `json:"schema"`
	// Name of the folder.
	ID       string    `json:"id"`
	Made     time.Time `json:"made"`
	System   string    `json:"system"`
	Scenario string    `json:"scenario"`
	Title    string    `json:"title"`
	Profile  string    `json:"profile"`
	// The parameters of all runs.
	Parameters map[string]any `json:"parameters" jsonschema:"nullable"`
	// The same as in a result; null if k6 itself made the load.
	Placement *result.Placement `json:"placement"`
	// The same as in a result.
	Host *result.Host `json:"host"`
	// The same as in the result of the first run; absent if the ends met on loopback.
	Link *result.Link `json:"link,omitempty"`
	// The version; empty if the runs lack it.
	Windtunnel string `json:"windtunnel"`
	// 0 for existing results, and for a comparison that ran until it knew.
	PlannedPairs int `json:"planned_pairs" jsonschema:"minimum=0"`
	// Whether the runs took turns, so that each run of A has a run of B beside it.
	Interleaved bool `json:"interleaved"`
	// From the start of the first run to the end of the last.
	DurationS float64 `json:"duration_s" jsonschema:"minimum=0"`
	// How often a comparison that ran until it knew looked at its pairs, which widens its intervals; 0 if the number of
	// pairs was fixed.
	Looks       int  `json:"looks" jsonschema:"minimum=0"`
	Interrupted bool `json:"interrupted"`
	// The least confidence of the interval of each metric.
	Confidence float64 `json:"confidence" jsonschema:"maximum=1,exclusiveMinimum=0"`
	// The gate: 10 means 1.1 times the time, memory or CPU, and 1/1.1 of a rate. For shares it is a tenth of it, in
	// percentage points.
	WorseByPercent float64 `json:"worse_by_percent" jsonschema:"minimum=0"`
	// Only primary metrics were judged, as SECONDARY=off requested.
	Secondary string `json:"secondary,omitempty" jsonschema:"enum=off"`
	// How fast B is against A, in one sentence for people.
	Headline string   `json:"headline"`
	A        Side     `json:"a"`
	B        Side     `json:"b"`
	Metrics  []Metric `json:"metrics"`
	// Each way in which runs or operations of either side failed.
	Failures []Failure `json:"failures"`
	Notes    []string  `json:"notes"`
	Verdict  string    `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive"`
	// Why a comparison is inconclusive. A gate fails if something is missing.
	Doubt string `json:"doubt,omitempty" jsonschema:"enum=too noisy,enum=too little time,enum=something is missing"`
	// Why the verdict is not pass; empty for pass.
	Reasons     []string `json:"reasons"`
	mute        []string // metrics that cannot fail with this few pairs, one reason for each role.
	missing     []string // what was not measured, one reason each.
	gaps        gaps     // figures of sections that some runs lack.
	unknown     gaps     // figures of sections that no run has, by their role.
	ofOneSide   gaps     // metrics that only A or only B has.
	lost        []string // primary metrics without a value in B because all operations failed, one reason each.
	noSecondary string   // why secondary metrics cannot be judged, although they were requested.
	kept        bool     // A are kept runs that judge the one run B.
	answers     []string // findings of both sides' sections, one line each.
}

// Side describes the runs of one side.
type Side struct {
	// The requested side: a testbed, a URL or an environment; empty for existing results.
	Spec string `json:"spec"`
	// Without ports; null if the system was up already, or no run has a result.
	Testbed  *result.Testbed   `json:"testbed"`
	Versions map[string]string `json:"versions"`
	// The build for the comparison of a base and a head.
	Build *builds.Build `json:"build,omitempty"`
	// SHA-256 of each program, by its name in the testbed: of a file, of all files of a folder, or of Python's packages.
	Contents contents.Contents `json:"contents,omitempty"`
	Runs     []SideRun         `json:"runs"`
}

// SideRun is one run.
type SideRun struct {
	ID    string     `json:"id"`
	File  string     `json:"file"`
	Start *time.Time `json:"start"`
	// From 1; 0 without a pair.
	Pair    int    `json:"pair" jsonschema:"minimum=0"`
	Outcome string `json:"outcome"`
	Used    bool   `json:"used"`
	// Its side failed in it. The failure counts, and the run is not repeated.
	Failed bool `json:"failed"`
	// Why the run is not used, or another remark.
	Message string `json:"message"`
}

// The roles of metrics: their effect on the verdict.
const (
	Primary   = "primary"   // must be within the bound.
	Secondary = "secondary" // breaks the gate if the evidence, corrected for the number of metrics, is strong enough.
	Shown     = "shown"     // has no effect.
)

// Metric is one row.
type Metric struct {
	// Empty for the whole run.
	Operation string `json:"operation"`
	Title     string `json:"title"`
	Name      string `json:"name"`
	// ms, per_s, mbit_per_s, share, bytes, bytes_each, count, each, s, us, or the unit of a section's column.
	Unit   string `json:"unit" jsonschema:"minLength=1"`
	Better string `json:"better" jsonschema:"enum=higher,enum=lower"`
	// The same operation without the proxy, which is never judged.
	Control bool `json:"control"`
	// A primary metric must be within the bound. A secondary metric breaks the gate if the evidence, corrected for the
	// number of metrics, is strong enough. A shown metric decides nothing.
	Role string  `json:"role" jsonschema:"enum=primary,enum=secondary,enum=shown"`
	A    Summary `json:"a"`
	B    Summary `json:"b"`
	// The change from A to B; null if A is 0.
	Change *Change `json:"change"`
	// The two-sided p-value of the signed-rank test that gives the interval; for runs without pairs, of the rank-sum test.
	P         *float64 `json:"p" jsonschema:"minimum=0,maximum=1"`
	Judgement string   `json:"judgement" jsonschema:"enum=better,enum=worse,enum=no significant difference,enum=not judged"`
	// Against the bound; empty if nothing was judged.
	Outcome string `json:"outcome" jsonschema:"enum=,enum=within,enum=beyond,enum=unclear"`
	// Whether the metric is beyond the bound and breaks the gate.
	Gate bool `json:"gate"`
	// A larger loss would have been seen: the end of the interval, on the scale of worse_by_percent, or in points for
	// shares. Null with too few pairs.
	WorseAtMost *float64 `json:"worse_at_most" jsonschema:"minimum=0"`
	// The estimated number of further pairs that would decide an unclear primary metric. -1 if it is too near its bound for
	// any number; null if it is not unclear, or with too few pairs.
	MorePairs *int             `json:"more_pairs" jsonschema:"minimum=-1"`
	Notes     []string         `json:"notes"`
	differs   bool             // its interval excludes 0.
	drifted   bool             // a control with a difference like that of a system.
	evidence  bool             // explains where the time went.
	shift     difference.Shift // of the usable runs.
	gate      difference.Shift // including the pairs in which B failed; N is 0 without such pairs.
	cautious  difference.Shift // including the excluded pairs too; N is 0 without such pairs.
	allowance float64          // added to the bound, on its scale.
}

// Summary has the values of a side, in the order of the runs, and their median.
type Summary struct {
	// The values of the used runs, in their order.
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
}

// Change is the change from A to B.
type Change struct {
	// The unit points means percentage points, for shares. The units bytes_each and each mean the difference, for a growth
	// per unit of work.
	Unit string `json:"unit" jsonschema:"enum=percent,enum=points,enum=bytes_each,enum=each"`
	// Whether it uses the changes of the pairs. Otherwise it uses all runs of B against all runs of A, and is wider by the
	// machine's possible change.
	Paired bool `json:"paired"`
	Pairs  int  `json:"pairs" jsonschema:"minimum=0"`
	// The Hodges-Lehmann estimate.
	Estimate float64 `json:"estimate"`
	// The ends of the interval; null with too few runs.
	Lo *float64 `json:"lo"`
	Hi *float64 `json:"hi"`
}

// Failure is one way in which runs or operations fail, with the count of each side.
type Failure struct {
	// The fault of the runs, or the kind of error of the operations, as in a result.
	Kind string `json:"kind"`
	Of   string `json:"of" jsonschema:"enum=runs,enum=operations"`
	A    Tally  `json:"a"`
	B    Tally  `json:"b"`
	// The one-sided p-value for more failures of B; null for runs, which are counted.
	P *float64 `json:"p" jsonschema:"minimum=0,maximum=1"`
	// Within: B does not fail more. Beyond: B fails more and breaks the gate. Unclear: B fails more, perhaps by chance,
	// which is no pass.
	Outcome string `json:"outcome" jsonschema:"enum=within,enum=beyond,enum=unclear"`
	excused int64  // failures of B in disturbed runs, of a kind that a busy machine causes.
}

// Tally is a number of failures and the total.
type Tally struct {
	Failed int64 `json:"failed" jsonschema:"minimum=0"`
	Of     int64 `json:"of" jsonschema:"minimum=0"`
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
