// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"math"

	"windtunnel/k6/internal/seq"
)

// Declared is a script's declaration before it runs. Units are in the JSON names.
type Declared struct {
	Operations []Operation `json:"operations"`
	Plan       Plan        `json:"plan"`
	// Steps are the steps of a run that looks for the limit (profile breakpoint); nil in any other run.
	Steps *Steps `json:"steps"`
}

// Plan is the planned amount of load.
type Plan struct {
	// Iterations of k6; nil if time bounds the run.
	Iterations *float64 `json:"iterations"`
	Seconds    float64  `json:"seconds"`
}

// Steps of a rising load: the duration of each step, and its load in words.
type Steps struct {
	Seconds float64  `json:"seconds"`
	Loads   []string `json:"loads"`
}

// Operation is a row of the results table, as its script declares it. lib/scenario.js documents each field.
type Operation struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Loop      string `json:"loop"` // closed or open
	LatencyIs string `json:"latency_is"`
	// Items names, in the plural, the items that a request carries; "" if it carries one.
	Items string `json:"items"`
	// Control is the operation that does the same work without the system under test.
	Control string `json:"control"`
	// AgainstControl says that the P50 is judged by the control's P50, so that gross slowness fails.
	AgainstControl bool `json:"against_control"`
	// Saturates says that the operation sends as much as the system accepts, so the generator may be the limit.
	Saturates bool `json:"saturates"`
	// AnswersItself says that the system answers without asking a far end. The control, which a far end answers, is then
	// not an upper limit.
	AnswersItself bool `json:"answers_itself"`
	// Optional says that a complete run may lack this operation.
	Optional bool `json:"optional"`
	// Uncounted says that each iteration of the k6 scenario carries one operation, so that k6 counts them.
	Uncounted bool `json:"uncounted"`
	// Primary is the metric that a comparison must find within its bound; "" for the default of the operation's kind.
	Primary string `json:"primary"`
	// Least is the smallest number of items in a complete run with a fixed number of iterations; nil means 1.
	Least *float64 `json:"least"`
	// PlannedS is the planned duration in seconds, if time bounds the run.
	PlannedS float64 `json:"planned_s"`
	Bounds   Bounds  `json:"bounds"`
}

// Bounds are an operation's thresholds; environment.schema.json lists them. A nil entry means no threshold.
type Bounds map[string]*float64

// leastItems is the smallest number of items that the operation must carry in a complete run. The allowed share of
// failures may be missing.
func (d Declared) leastItems(op Operation) float64 {
	if d.Steps != nil || op.Optional {
		return 0
	}
	most := 1.0
	if d.Plan.Iterations != nil && op.Least != nil {
		most = *op.Least
	}
	failed := 0.0
	if share := op.Bounds["failed"]; share != nil {
		failed = *share
	}
	return max(1, math.Floor(most*(1-failed)))
}

func (d Declared) find(name string) Operation {
	op, _ := seq.Find(d.Operations, func(op Operation) bool { return op.Name == name })
	return op
}
