// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/seq"
)

// existingRuns has the existing runs of one scenario: folders of runs and result files.
type existingRuns struct {
	a, b       []string
	scenario   string // scenario to take from the runs; "" if they have only one
	folder     string // subfolder of the output, "" for the only scenario
	comparison string // folder of the comparison that made the runs, "" without one
}

// Existing compares existing results and returns the exit code.
func Existing(stdout, stderr io.Writer, o Options) int {
	parts, line := o.parts()
	if line != "" {
		return exit.Say(stderr, exit.Usage, "%s; %s", line, command.See("compare"))
	}
	base, _ := root.Find(o.Root, o.Variable, o.Dir)
	dir := o.out(base)
	var all []compare.Request
	for _, part := range parts {
		q := compare.Request{ID: filepath.Base(dir), Folder: part.folder, Bounds: o.Bounds, Beds: check.Beds(base)}
		if part.folder != "" {
			q.ID += "/" + part.folder
		}
		var err error
		if q.A, err = compare.Load(part.a, part.scenario); err != nil {
			return exit.Say(stderr, exit.Usage, "A: %v", err)
		}
		if q.B, err = compare.Load(part.b, part.scenario); err != nil {
			return exit.Say(stderr, exit.Usage, "B: %v", err)
		}
		q.Scenario = q.A[0].Scenario
		q.Look.Comparisons = len(parts)
		if part.comparison != "" {
			q.Look.Number = compare.LooksOf(part.comparison, len(part.a))
			q.TakeSides(part.comparison)
			compare.PairByFolder(q.A, q.B)
		} else {
			compare.Pair(q.A, q.B)
		}
		for _, runs := range [][]compare.Measured{q.A, q.B} {
			for i := range runs {
				runs[i].File = o.display(runs[i].File)
			}
		}
		all = append(all, q)
	}
	return finish(stdout, stderr, all, dir, o.Dir, func([]compare.Comparison) {})
}

// parts splits the paths into those of A and of B, for each scenario.
func (o Options) parts() (parts []existingRuns, line string) {
	paths := command.Locate(o.Paths, o.Dir, o.Variable)
	var one existingRuns
	switch {
	case len(paths) == 1:
		if set := compare.OfSet(paths[0]); len(set) > 0 {
			return o.ofSet(set)
		}
		if one.a, one.b = compare.OfComparison(paths[0]); len(one.a) == 0 || len(one.b) == 0 {
			return nil, o.Paths[0] + " is no folder of a comparison: give the runs of A, then --, then the runs of B"
		}
		one.comparison = paths[0]
	case len(paths) == 2 && o.Dash < 0:
		one.a, one.b = paths[:1], paths[1:]
	case o.Dash < 1 || o.Dash >= len(paths):
		return nil, "give the runs of A, then --, then the runs of B; or --scenario, --a and --b"
	default:
		one.a, one.b = paths[:o.Dash], paths[o.Dash:]
	}
	scenarios := compare.List(o.Scenario)
	if len(scenarios) < 2 {
		one.scenario = strings.Join(scenarios, "")
		return []existingRuns{one}, ""
	}
	return seq.Map(scenarios, func(scenario string) existingRuns {
		return existingRuns{a: one.a, b: one.b, scenario: scenario, folder: stem(scenario), comparison: one.comparison}
	}), ""
}

// ofSet takes the comparisons of a set; if scenarios are given, only those.
func (o Options) ofSet(folders []string) (parts []existingRuns, line string) {
	var there []string
	wanted := compare.List(o.Scenario)
	for _, folder := range folders {
		name := filepath.Base(folder)
		there = append(there, name)
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(scenario string) bool { return stem(scenario) == name }) {
			continue
		}
		a, b := compare.OfComparison(folder)
		parts = append(parts, existingRuns{a: a, b: b, folder: name, comparison: folder})
	}
	for _, scenario := range wanted {
		if !slices.Contains(there, stem(scenario)) {
			return nil, fmt.Sprintf("%s has no comparison of %s; there are: %s", o.Paths[0], scenario, strings.Join(there, ", "))
		}
	}
	return parts, ""
}

func stem(scenario string) string { return strings.ReplaceAll(scenario, "/", "-") }

// display shortens a path: it removes the part that only this machine has.
func (o Options) display(path string) string {
	if relative, err := filepath.Rel(o.Dir, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return filepath.Base(path)
}
