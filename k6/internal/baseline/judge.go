// SPDX-License-Identifier: AGPL-3.0-only

package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/testbed"
)

// WorseBy is the default bound in percent. It is wider than the bound of a comparison in turns for two reasons: the
// interval of one run includes the noise of that run, and 10 % allow for changes of the machine.
const WorseBy = 30.0

// Excluded says why the baseline can judge no run of this machine; "" if it can.
func (b Baseline) Excluded(here machine.Class) string {
	set, err := report.Load(b.Runs[:1])
	if err != nil {
		return fmt.Sprintf("the baseline %s: %v", b.Name, err)
	}
	for _, r := range set.Results {
		if differ := machine.Of(r).Excludes(here); len(differ) > 0 {
			return fmt.Sprintf("this machine is of another class than the baseline %s: they differ in %s", b.Name, strings.Join(differ, ", "))
		}
	}
	return ""
}

// Judgement is a run judged by a baseline: one comparison for each of its scenarios that the baseline has.
type Judgement struct {
	compare.Set
	// Missing are the scenarios without a usable run in the baseline. They are not judged, so they do not pass.
	Missing []string
}

// Judge judges the run in a folder by the baseline. The error is one line about something that the user can fix.
func (b Baseline) Judge(folder string, bounds compare.Bounds, beds func(string) testbed.Testbed) (Judgement, error) {
	set, err := report.Load([]string{folder})
	if err != nil {
		return Judgement{}, err
	}
	scenarios, err := b.Scenarios()
	if err != nil {
		return Judgement{}, err
	}
	var j Judgement
	var all []compare.Request
	for _, e := range set.Entries() {
		var kept []compare.Measured
		if slices.Contains(scenarios, e.Name) {
			if kept, err = b.of(e.Name); err != nil {
				return j, err
			}
		}
		if len(kept) == 0 {
			j.Missing = append(j.Missing, e.Name)
			continue
		}
		own, err := compare.Load([]string{folder}, e.Name)
		if err != nil {
			return j, err
		}
		if why := compare.KeptRefusal(kept, own[0], beds); why != "" {
			return j, fmt.Errorf("%s cannot be judged by the baseline %s: %s", e.Name, b.Name, why)
		}
		all = append(all, b.request(e, kept, own[0], bounds, beds))
	}
	if len(all) == 0 {
		return j, fmt.Errorf("the baseline %s has no run of %s; it has %s", b.Name, strings.Join(j.Missing, ", "), strings.Join(scenarios, ", "))
	}
	for i := range all {
		all[i].Look.Comparisons = len(all)
	}
	j.Set = compare.MakeSet(all)
	return j, nil
}

func (b Baseline) request(e report.Entry, kept []compare.Measured, own compare.Measured, bounds compare.Bounds, beds func(string) testbed.Testbed) compare.Request {
	for i := range kept {
		kept[i].File = filepath.Base(kept[i].File)
	}
	own.File = filepath.Base(own.File)
	return compare.Request{ID: b.Name, Scenario: e.Name, Folder: strings.ReplaceAll(e.Name, "/", "-"), A: kept, B: []compare.Measured{own},
		SpecA: "baseline " + b.Name, SpecB: "this run", Bounds: bounds, Beds: beds, Kept: true}
}

// ExitCode is the worst exit code of the comparisons; a scenario that is not judged is inconclusive.
func (j Judgement) ExitCode() int {
	if len(j.Missing) > 0 {
		return exit.Worst(j.Set.ExitCode(), exit.Inconclusive)
	}
	return j.Set.ExitCode()
}

// Summary is the text for the terminal.
func (j Judgement) Summary() string {
	text := j.Set.Summary()
	for _, name := range j.Missing {
		text += fmt.Sprintf("%s is not judged: the baseline has no usable run of it\n", name)
	}
	return text
}

// Write writes the comparisons and their page into a folder.
func (j Judgement) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return j.Set.Write(folder)
}
