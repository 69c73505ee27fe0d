// SPDX-License-Identifier: AGPL-3.0-only

// Package judge computes a result from the measurements: percentiles, rates, thresholds, validity, the verdict and its
// reasons. Only this package decides a verdict.
package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// Evidence is a run's data in addition to the recorded operations. Units are in the JSON names.
type Evidence struct {
	Declared
	// Run and Headline are copied into the result.
	Run      json.RawMessage  `json:"run"`
	Headline *result.Headline `json:"headline"`
	// LoadS is the duration of the load in seconds.
	LoadS float64 `json:"load_s"`
	// Counts are k6's own counts.
	Counts struct {
		Iterations float64 `json:"iterations"`
		Dropped    float64 `json:"dropped_iterations"`
	} `json:"counts"`
	// SilentMS is how long a target may not answer before the run is stopped.
	SilentMS float64 `json:"silent_ms"`
	// Usage is the usage in the measuring window; nil without a sidecar.
	Usage *Usage `json:"usage"`
	// CPUs are the users of each CPU during the window; empty if unknown.
	CPUs []Sample `json:"cpus"`
	// Placement says which CPUs each part used; nil if the system's CPU usage cannot be separated from others'.
	Placement *result.Placement `json:"placement"`
	// RestBefore and RestAfter are the usage of the system's processes while idle; nil if not sampled.
	RestBefore []AtRest `json:"rest_before"`
	RestAfter  []AtRest `json:"rest_after"`
	// Leftovers names, in the plural, the objects that a run may leave on the target, and how to find them.
	Leftovers string `json:"leftovers"`
	// RemoveWith is the command that removes them; "" without one.
	RemoveWith string `json:"remove_with"`
	// Facts are counts of the target's data and the counts that the run reported; empty if there is nothing to compare.
	Facts []Fact `json:"facts"`
	// ClosesAll says that the system must close all descriptors that the load made it open.
	ClosesAll bool `json:"closes_all,omitempty"`
	// Rows are what the instances of the scenario's rows held; empty for a scenario that starts none.
	Rows  []result.HeldByRow `json:"held_by_rows,omitempty"`
	Notes []string           `json:"notes"`
	// Link is nil if the two ends of each pair met on loopback.
	Link *Link `json:"link,omitempty"`
	// Protocols and Interop are rows of programs; if there are rows, they decide the verdict.
	Protocols *Protocols   `json:"protocols,omitempty"`
	Interop   []InteropRow `json:"interop,omitempty"`
	// Sections are the scenario's tables in addition to its operations.
	Sections []result.Section `json:"sections"`
	// Runner identifies one of several k6 processes; nil if there is only one.
	Runner *Runner `json:"runner,omitempty"`

	// runners are all runners, if this is the evidence of the whole run.
	runners []Recorded
}

// AtRest is the usage of a process while idle.
type AtRest struct {
	Name string `json:"name"`
	result.AtRest
}

// Judged is a result with the run as the script gave it.
type Judged struct {
	Schema string          `json:"schema"`
	Run    json.RawMessage `json:"run"`
	result.Result
}

// judge computes the result. It returns an error for an unreadable section.
func judge(e Evidence, m Metrics) (Judged, error) {
	usage := e.Usage.orNothing()
	j := Judged{Schema: result.Schema, Run: e.Run, Result: result.Result{
		Headline: e.Headline, Operations: []result.Operation{}, Thresholds: []result.Threshold{}, Notes: []string{}, Sections: []result.Section{},
		Processes: processesOf(usage), CPU: usage.windowCPU(), Limits: usage.Limits, Held: usage.Held, Rows: e.Rows, Rest: restOf(e.RestBefore, e.RestAfter),
		Integrity: slices.Concat(integrityOf(m, e.Facts), farEndOf(m, e.Operations), leftOpen(usage.Held, e.ClosesAll, knownFault(e)), leftByRows(e.Rows)),
	}}
	whole := lastedAsPlanned(e.Plan.Seconds, e.LoadS)
	for _, op := range e.Operations {
		planned := 0.0
		if whole {
			planned = op.PlannedS
		}
		j.Operations = append(j.Operations, rowOf(m, op, planned))
	}
	for _, row := range j.Operations {
		op := e.find(row.Name)
		j.Thresholds = append(j.Thresholds, e.judged(m, row, op)...)
		if control, ok := find(j.Operations, op.Control); ok && op.AgainstControl {
			j.Thresholds = append(j.Thresholds, againstControl(row, control)...)
		}
	}
	j.Controls = controlsOf(e.Declared, j.Operations)
	if err := j.addSections(e.Sections); err != nil {
		return j, err
	}
	j.Validity = checksOf(e, m, j.Operations, j.Thresholds, j.Controls)
	j.judgeRunners(e)
	if err := j.addDisturbances(e); err != nil {
		return j, err
	}
	found := opinionOf(e, m, j)
	j.Notes = append(j.Notes, waitNotes(e, j)...)
	for _, remark := range []string{j.Held.Remark(), j.Held.Uncounted(), j.Limits.Remark()} {
		if remark != "" {
			j.Notes = append(j.Notes, remark)
		}
	}
	j.Connections = connectionsOf(m)
	if j.Leftovers = leftoversOf(e, m); j.Leftovers != nil {
		j.Notes = append(j.Notes, j.Leftovers.Text())
	}
	for _, row := range j.Operations {
		if of(m, "operation_ms", row.Name)["error"] > 0 {
			j.Notes = append(j.Notes, fmt.Sprintf("%s: too many samples to keep all: percentiles are accurate to %g %%", row.Name, 100*record.Error))
		}
	}
	j.Notes = append(append(j.Notes, found.notes...), e.Notes...)
	j.Verdict, j.Reasons = found.verdict, fold(found.reasons)
	return j, nil
}

// opinionOf is the final verdict: from the rows of a matrix if there are any, otherwise from the operations. Wrong data
// applies to both.
func opinionOf(e Evidence, m Metrics, j Judged) opinion {
	var found opinion
	if e.Steps != nil {
		found = excusedLimit(findLimit(m, e, j.Validity), j)
	} else {
		found = decide(j.Thresholds, j.Validity, j.Operations, j.Controls)
	}
	return markBusy(withIntegrity(ofPrograms(e, j, found), j.Integrity, j.Validity), j)
}

// leftoversOf describes the objects that the run could not remove; nil if there are none.
func leftoversOf(e Evidence, m Metrics) *result.Leftovers {
	left, unknown := countOf(m, "cleanup_left"), countOf(m, "cleanup_unknown")
	if left == 0 && unknown == 0 {
		return nil
	}
	return &result.Leftovers{Count: int64(left), Known: unknown == 0, What: e.Leftovers, RemoveWith: e.RemoveWith}
}

// connectionsOf counts the connections of a load over HTTP; nil for other loads.
func connectionsOf(m Metrics) *result.Connections {
	if _, any := m.Values("connections_opened", nil); !any {
		return nil
	}
	return &result.Connections{Opened: int64(countOf(m, "connections_opened")), IdleResets: int64(countOf(m, "idle_resets"))}
}

// addDisturbances adds the times in which other programs used the CPUs; it adds nothing if they were not sampled.
func (j *Judged) addDisturbances(e Evidence) error {
	if len(e.CPUs) == 0 {
		return nil
	}
	var run struct {
		Start time.Time `json:"start"`
	}
	if err := json.Unmarshal(e.Run, &run); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	j.Disturbed = disturbedSeconds(e.CPUs, e.Placement, run.Start)
	if e.Placement == nil {
		return nil
	}
	j.Repeated = repeatedOf(e.Usage.orNothing().Repeated, e.Placement)
	return nil
}

// Write writes the result's file. clean removes secrets from the file.
func (j Judged) Write(path string, clean func(path string) error) error {
	if err := run.WriteJSON(path, j); err != nil {
		return err
	}
	return clean(path)
}

// File returns the result as the text of its file.
func (j Judged) File() ([]byte, error) {
	text, err := json.MarshalIndent(j, "", "  ")
	return append(text, '\n'), err
}

// restOf pairs the idle usage before and after the load, by process; nil if not sampled.
func restOf(before, after []AtRest) (rest []result.Rest) {
	at := func(name string) *result.Rest {
		for i := range rest {
			if rest[i].Name == name {
				return &rest[i]
			}
		}
		rest = append(rest, result.Rest{Name: name})
		return &rest[len(rest)-1]
	}
	for _, p := range before {
		at(p.Name).Before = &p.AtRest
	}
	for _, p := range after {
		at(p.Name).After = &p.AtRest
	}
	return rest
}
