// SPDX-License-Identifier: AGPL-3.0-only

package judge

import "math"

// Declared is what a script says of itself before it runs. Units are in the JSON names.
type Declared struct {
	Operations []Operation `json:"operations"`
	Plan       Plan        `json:"plan"`
	// Steps are those of a run that looks for the limit (profile breakpoint); nil in any other.
	Steps *Steps `json:"steps"`
}

// Plan is how much was meant to run.
type Plan struct {
	// Iterations of k6; nil where time bounds the run.
	Iterations *float64 `json:"iterations"`
	Seconds    float64  `json:"seconds"`
}

// Steps of a load that rises: how long each lasts, and its load in words.
type Steps struct {
	Seconds float64  `json:"seconds"`
	Loads   []string `json:"loads"`
}

// Operation is a row of the results table, as its script declares it. lib/scenario.js says what each field is for.
type Operation struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Loop      string `json:"loop"` // closed, open
	LatencyIs string `json:"latency_is"`
	// Items is what a request carries, in the plural; "" where it carries one.
	Items string `json:"items"`
	// Control is the operation that does the same without the system under test.
	Control string `json:"control"`
	// AgainstControl: its P50 is judged by its control's, so that gross slowness fails.
	AgainstControl bool `json:"against_control"`
	// Saturates: it sends as much as comes through, so that the meter may be the limit.
	Saturates bool `json:"saturates"`
	// AnswersItself: the system answers, and asks no far end: direct, where a far end answers, is not its limit.
	AnswersItself bool `json:"answers_itself"`
	// Optional: a complete run may have none of it.
	Optional bool `json:"optional"`
	// Uncounted: each of the k6 scenario's iterations carries one, and k6 counts them.
	Uncounted bool `json:"uncounted"`
	// Primary is what a comparison must find within its bound; "" where its kind says it.
	Primary string `json:"primary"`
	// Least are the fewest items that a complete run with a fixed number of iterations carries; nil: 1.
	Least *float64 `json:"least"`
	// PlannedS is how long it was meant to last, where time bounds it.
	PlannedS float64 `json:"planned_s"`
	Bounds   Bounds  `json:"bounds"`
}

// Bounds of an operation, by failed (share), errors, anomalies, round_trips (counts), rate (1/s), avg, p(50) … p(99.9), max (ms). One that
// is nil bounds nothing.
type Bounds map[string]*float64

// leastItems is what the operation must carry, of a complete run. As many may be missing as may fail.
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
	for _, op := range d.Operations {
		if op.Name == name {
			return op
		}
	}
	return Operation{}
}
