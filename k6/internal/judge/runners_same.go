// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"slices"
)

// identity has the properties that all runners of a run share, by name.
type identity struct {
	names, values []string
}

// runFields of `run` are the same for all runners; times and machine differ.
var runFields = []string{"id", "system", "scenario", "profile", "environment", "target", "parameters", "testbed", "versions", "placement"}

func identityOf(e Evidence) (own identity, err error) {
	add := func(name string, value any) {
		text, failed := json.Marshal(value)
		if failed != nil {
			err = failed
		}
		own.names, own.values = append(own.names, name), append(own.values, string(text))
	}
	var run map[string]any
	if err := json.Unmarshal(e.Run, &run); err != nil {
		return own, fmt.Errorf("run: %w", err)
	}
	for _, field := range runFields {
		add("run."+field, run[field])
	}
	add("operations", e.Operations)
	add("plan", e.Plan)
	add("steps", e.Steps)
	add("headline", e.Headline)
	add("silent_ms", e.SilentMS)
	if e.Runner != nil {
		add("number of runners", e.Runner.Of)
		add("coordinator", e.Runner.Together)
	}
	return own, err
}

// leaveOutForeign excludes the records that do not belong to the run of most records; in a tie, to the run of the first
// record.
func leaveOutForeign(all []Recorded) {
	own := make([]identity, len(all))
	votes := map[string]int{}
	most := -1
	key := func(i int) string { return fmt.Sprint(own[i].values) }
	for i, one := range all {
		if one.Lost != "" {
			continue
		}
		var err error
		if own[i], err = identityOf(one.Evidence); err != nil {
			all[i] = one.without(fmt.Errorf("its evidence cannot be read: %w", err))
			continue
		}
		votes[key(i)]++
	}
	for i, one := range all {
		if one.Lost == "" && (most < 0 || votes[key(i)] > votes[key(most)]) {
			most = i
		}
	}
	for i, one := range all {
		if one.Lost == "" && key(i) != key(most) {
			all[i].Lost = fmt.Sprintf("it is of another run: its %s differs from the others'", differing(own[i], own[most]))
		}
	}
	for i, one := range all {
		if one.Lost == "" && len(all) > 1 && (one.Evidence.Runner == nil || one.Number < 1 || one.Number > one.Evidence.Runner.Of) {
			all[i].Lost = "it does not name its runner"
		}
	}
}

func differing(a, b identity) string {
	for i, name := range a.names {
		if !slices.Contains(b.names, name) || i < len(b.values) && a.values[i] != b.values[i] {
			return name
		}
	}
	return "number of runners"
}
