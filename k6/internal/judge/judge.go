// SPDX-License-Identifier: AGPL-3.0-only

// Package judge makes a result of what was measured: percentiles, rates, thresholds, validity, verdict and its reasons. Nothing
// else decides.
package judge

import (
	"encoding/json"
	"fmt"
	"time"

	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

// Evidence is what a run left, beside what the record has of its operations. Units are in the JSON names.
type Evidence struct {
	Declared
	// Run and Headline are the result's own.
	Run      json.RawMessage  `json:"run"`
	Headline *result.Headline `json:"headline"`
	// LoadS is how long the load lasted.
	LoadS float64 `json:"load_s"`
	// Counts are k6's own.
	Counts struct {
		Iterations float64 `json:"iterations"`
		Dropped    float64 `json:"dropped_iterations"`
	} `json:"counts"`
	// SilentMS is for how long a target may answer nothing before the run is stopped.
	SilentMS float64 `json:"silent_ms"`
	// Usage is of the measuring window; nil where no sidecar was there.
	Usage *Usage `json:"usage"`
	// CPUs are who used each CPU while the window ran; none where nobody can tell.
	CPUs []Sample `json:"cpus"`
	// Placement is which CPUs did what; nil where nobody else's doing can be told from the system's.
	Placement *result.Placement `json:"placement"`
	// RestBefore and RestAfter are of the system's processes while nothing was sent; nil where nobody looked.
	RestBefore []AtRest `json:"rest_before"`
	RestAfter  []AtRest `json:"rest_after"`
	// Leftovers are what a run may leave on the target, in the plural, and how to find it.
	Leftovers string `json:"leftovers"`
	// RemoveWith is the command that removes them; "" where there is none.
	RemoveWith string `json:"remove_with"`
	// Facts are what the target holds and what the run reported of it; none where nothing is to be compared.
	Facts []Fact   `json:"facts"`
	Notes []string `json:"notes"`
	// Link is nil where the two ends of each pair met on loopback.
	Link *Link `json:"link,omitempty"`
	// Protocols and Interop are rows of programs, which decide where there are any.
	Protocols *Protocols   `json:"protocols,omitempty"`
	Interop   []InteropRow `json:"interop,omitempty"`
	// Sections are what the scenario shows beside its operations.
	Sections []result.Section `json:"sections"`
	// Runner is which k6 process of several this is; nil where it is the only one.
	Runner *Runner `json:"runner,omitempty"`

	// runners are all of them, where this is the evidence of the whole run.
	runners []Recorded
}

// AtRest is what a process did while nothing was sent.
type AtRest struct {
	Name string `json:"name"`
	result.AtRest
}

// Judged is a result: schemas/result.schema.json.
type Judged struct {
	Schema      string              `json:"schema"`
	Run         json.RawMessage     `json:"run"`
	Headline    *result.Headline    `json:"headline,omitempty"`
	Operations  []result.Operation  `json:"operations"`
	Controls    []result.Control    `json:"controls,omitempty"`
	Processes   []result.Process    `json:"processes"`
	CPU         *result.WindowCPU   `json:"cpu,omitempty"`
	Rest        []result.Rest       `json:"rest,omitempty"`
	Thresholds  []result.Threshold  `json:"thresholds"`
	Validity    []result.Validity   `json:"validity"`
	Integrity   []result.Integrity  `json:"integrity,omitzero"`
	Disturbed   []result.Disturbed  `json:"disturbed,omitzero"`
	Repeated    []result.Repeated   `json:"repeated,omitzero"`
	Runners     []result.Runner     `json:"runners,omitempty"`
	Leftovers   *result.Leftovers   `json:"leftovers,omitempty"`
	Connections *result.Connections `json:"connections,omitempty"`
	Notes       []string            `json:"notes"`
	Verdict     string              `json:"verdict"`
	Reasons     []result.Reason     `json:"reasons"`
	Sections    []result.Section    `json:"sections"`
}

// Judge decides. The error is of a section that cannot be read.
func Judge(e Evidence, m Metrics) (Judged, error) {
	j := Judged{
		Schema: result.Schema, Run: e.Run, Headline: e.Headline,
		Operations: []result.Operation{}, Thresholds: []result.Threshold{}, Notes: []string{}, Sections: []result.Section{},
		Processes: processesOf(e.Usage), CPU: windowCPU(e.Usage), Rest: restOf(e.RestBefore, e.RestAfter),
		Integrity: append(integrityOf(m, e.Facts), farEndOf(m, e.Operations)...),
	}
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
	j.Connections = connectionsOf(m)
	if j.Leftovers = leftoversOf(e, m); j.Leftovers != nil {
		j.Notes = append(j.Notes, j.Leftovers.Text())
	}
	for _, row := range j.Operations {
		if of(m, "operation_ms", row.Name)["error"] > 0 {
			j.Notes = append(j.Notes, fmt.Sprintf("%s: more samples than are kept one by one: its percentiles are within %g %%", row.Name, 100*record.Error))
		}
	}
	j.Notes = append(append(j.Notes, found.notes...), e.Notes...)
	j.Verdict, j.Reasons = found.verdict, fold(found.reasons)
	return j, nil
}

// opinionOf is the last word: of the rows of a matrix, where there are any, of the operations where there are none. What is wrong with
// the data is wrong with either.
func opinionOf(e Evidence, m Metrics, j Judged) opinion {
	var found opinion
	if e.Steps != nil {
		found = excusedLimit(findLimit(m, e, j.Validity), j)
	} else {
		found = decide(j.Thresholds, j.Validity, j.Operations, j.Controls)
	}
	return markBusy(withIntegrity(ofPrograms(e, j, found), j.Integrity, j.Validity), j)
}

// leftoversOf is what the run could not remove; nil where nothing is left.
func leftoversOf(e Evidence, m Metrics) *result.Leftovers {
	counted := func(metric string) float64 { values, _ := m.Values(metric, nil); return values["count"] }
	left, unknown := counted("cleanup_left"), counted("cleanup_unknown")
	if left == 0 && unknown == 0 {
		return nil
	}
	return &result.Leftovers{Count: int64(left), Known: unknown == 0, What: e.Leftovers, RemoveWith: e.RemoveWith}
}

// connectionsOf are those of a load over HTTP; nil where there was none.
func connectionsOf(m Metrics) *result.Connections {
	opened, any := m.Values("connections_opened", nil)
	resets, _ := m.Values("idle_resets", nil)
	if !any {
		return nil
	}
	return &result.Connections{Opened: int64(opened["count"]), IdleResets: int64(resets["count"])}
}

// addDisturbances adds when others used the CPUs; nothing where nobody looked, or can tell.
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
	var parts []Part
	if e.Usage != nil {
		parts = e.Usage.Repeated
	}
	j.Repeated = repeatedOf(parts, e.Placement)
	return nil
}

// File is the result as the text of its file.
func (j Judged) File() ([]byte, error) {
	text, err := json.MarshalIndent(j, "", "  ")
	return append(text, '\n'), err
}

// restOf pairs what was seen before the load and after it, by process; nil where nobody looked.
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
