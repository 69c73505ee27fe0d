// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// clocks are the gauges of moments on a test's own clock.
var clocks = []string{"operation_clock_ms", "target_silent_since_ms"}

// combined is the evidence of a run by that of its runners, in the order of their numbers. What was planned is the same in
// all. What was counted is added up, and what was seen once is taken of the one who ran the teardown. The records' clocks are
// set to the first one's zero.
func combined(all []Recorded) (Evidence, error) {
	e := all[0].Evidence
	if len(all) == 1 {
		return e, nil
	}
	last := all[0]
	for _, one := range all {
		if one.Evidence.Runner.Teardown {
			last = one
			break
		}
	}
	closing := last.Evidence
	e.Facts, e.Sections, e.Leftovers = closing.Facts, closing.Sections, closing.Leftovers
	e.Protocols, e.Interop = closing.Protocols, closing.Interop
	e.RestBefore, e.RestAfter = nil, closing.RestAfter
	// Each one's samples take the others for neighbours.
	e.CPUs = nil
	e.Counts.Iterations, e.Counts.Dropped = 0, 0
	zero := zeroOf(e.Runner)
	for _, one := range all {
		own := one.Evidence
		e.Counts.Iterations += own.Counts.Iterations
		e.Counts.Dropped += own.Counts.Dropped
		// What one of them cut short was cut short.
		e.LoadS = min(e.LoadS, own.LoadS)
		if e.RestBefore == nil {
			e.RestBefore = own.RestBefore
		}
		for _, clock := range clocks {
			one.Record.Shift(clock, zeroOf(own.Runner)-zero)
		}
	}
	e.Notes = notesOf(all)
	e.Usage = usageOf(all)
	if e.Usage != nil {
		// The one who cleaned up waited before that, once the load of all had ended.
		e.Usage.Whole = windowCPU(closing.Usage)
	}
	var err error
	e.Run, err = runOf(all)
	return e, err
}

// zeroOf is the zero of a runner's clock, on the coordinator's.
func zeroOf(r *Runner) float64 { return r.ZeroUnixMS + r.ClockOffsetMS }

// notesOf has a note once; one that not all have says whose it is.
func notesOf(all []Recorded) (notes []string) {
	for _, one := range all {
		for _, note := range one.Evidence.Notes {
			common := !slices.ContainsFunc(all, func(other Recorded) bool { return !slices.Contains(other.Evidence.Notes, note) })
			if !common {
				note = one.name() + ": " + note
			}
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// runOf is the first one's, from the first start to the last end by the coordinator's clock; the number of runners is one more of its
// parameters.
func runOf(all []Recorded) (json.RawMessage, error) {
	var run map[string]json.RawMessage
	var start, end time.Time
	var longest float64
	for i, one := range all {
		var own struct {
			Start     time.Time `json:"start"`
			End       time.Time `json:"end"`
			DurationS float64   `json:"duration_s"`
		}
		if err := json.Unmarshal(one.Evidence.Run, &own); err != nil {
			return nil, fmt.Errorf("run: %w", err)
		}
		offset := time.Duration(one.Evidence.Runner.ClockOffsetMS * float64(time.Millisecond))
		began, ended := own.Start.Add(offset), own.End.Add(offset)
		if i == 0 || began.Before(start) {
			start = began
		}
		if i == 0 || ended.After(end) {
			end = ended
		}
		longest = max(longest, own.DurationS)
	}
	if err := json.Unmarshal(all[0].Evidence.Run, &run); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	parameters, err := withRunners(run["parameters"], all[0].Evidence.Runner.Of)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]any{"start": moment(start), "end": moment(end), "duration_s": longest, "parameters": parameters} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		run[name] = text
	}
	return json.Marshal(run)
}

// withRunners are the parameters of a run with one more: of one system so many generators may make other figures, so that runs of
// other numbers are not to be compared.
func withRunners(text json.RawMessage, runners int) (parameters map[string]any, err error) {
	if text != nil {
		err = json.Unmarshal(text, &parameters)
	}
	if err != nil {
		return nil, fmt.Errorf("run.parameters: %w", err)
	}
	if parameters == nil {
		parameters = map[string]any{}
	}
	parameters["runners"] = runners
	return parameters, nil
}

// moment is as JavaScript's toISOString() writes it.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// usageOf are the windows of all as one: the system's processes once, whoever saw them, and each runner's own.
func usageOf(all []Recorded) *Usage {
	var whole *Usage
	for _, one := range all {
		own := one.Evidence.Usage
		if own == nil {
			continue
		}
		if whole == nil {
			first := *own
			first.Processes = nil
			whole = &first
		}
		if own.DurationS > whole.DurationS {
			whole.DurationS, whole.Host = own.DurationS, own.Host
		}
		if !slices.ContainsFunc(whole.Processes, isSystem) && slices.ContainsFunc(own.Processes, isSystem) {
			whole.Total = own.Total
		}
		for _, p := range own.Processes {
			whole.take(p, one.name())
		}
	}
	return whole
}

func isSystem(p ProcessUsage) bool { return p.Role == "system" }

// take adds a process that a runner saw. All runners see the same system; who saw a process of it end knows best.
func (u *Usage) take(p ProcessUsage, runner string) {
	if p.Role == "generator" {
		p.Name = fmt.Sprintf("%s (%s)", p.Name, runner)
		u.Processes = append(u.Processes, p)
		return
	}
	i := slices.IndexFunc(u.Processes, func(known ProcessUsage) bool { return known.Name == p.Name && known.Role == p.Role })
	if i < 0 {
		u.Processes = append(u.Processes, p)
	} else if u.Processes[i].Exit == nil && p.Exit != nil {
		u.Processes[i] = p
	}
}
