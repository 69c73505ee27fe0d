// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// clocks are the gauges with times of a test's own clock.
var clocks = []string{"operation_clock_ms", "target_silent_since_ms"}

// combined merges the evidence of runners, in the order of their numbers. The plan is the same in all. Counts are added
// up. Observations that only one runner makes come from the runner of the teardown. The records' clocks are set to the
// zero of the first runner's clock.
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
	// The samples of each runner count the other runners as neighbours.
	e.CPUs = nil
	e.Counts.Iterations, e.Counts.Dropped = 0, 0
	zero := zeroOf(e.Runner)
	e.Rows = nil
	for _, one := range all {
		own := one.Evidence
		e.Rows = append(e.Rows, own.Rows...)
		e.Counts.Iterations += own.Counts.Iterations
		e.Counts.Dropped += own.Counts.Dropped
		// If one runner's load was cut short, the whole load was.
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
		// The runner of the teardown waited for the quiet period after the load of all had ended.
		e.Usage.Whole, e.Usage.Held = closing.Usage.orNothing().windowCPU(), closing.Usage.orNothing().Held
	}
	var err error
	e.Run, err = runOf(all)
	return e, err
}

// zeroOf is the zero of a runner's clock, by the coordinator's clock.
func zeroOf(r *Runner) float64 { return r.ZeroUnixMS + r.ClockOffsetMS }

// notesOf lists each note once; a note that not all runners have names its runner.
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

// runOf is the run of the first runner, with the first start and the last end by the coordinator's clock. The number of
// runners becomes a parameter.
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

// withRunners adds the number of runners to the parameters of a run: several generators on one system may produce other
// figures, so runs with different numbers are not compared.
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

// moment formats a time like JavaScript's toISOString().
func moment(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// usageOf merges the windows of all runners: each process of the system once, and each runner's own process.
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
		whole.Limits = worstLimits(whole.Limits, own.Limits)
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

// take adds a process from a runner's window. All runners see the same system; the entry that has the process's end is
// the best.
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
