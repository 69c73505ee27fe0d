// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/profiles"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// Scenario is one script, scripts/SYSTEM/NAME.js.
type Scenario struct {
	System, Name     string
	Script           string // absolute path
	Probed, OwnLinks bool   // of its system
	its              check.OfScenario
}

func (s Scenario) String() string { return s.System + "/" + s.Name }

// Entry is the scenario's entry in the record of a run.
func (s Scenario) Entry(outcome string) run.Scenario {
	return run.Scenario{System: s.System, Scenario: s.Name, Outcome: outcome}
}

// FileStem is the stem of the scenario's files in the folder of the run.
func (s Scenario) FileStem() string { return s.System + "-" + s.Name }

// StartsRows reports whether the scenario starts what it loads. Then the run's own testbed is spare.
func (s Scenario) StartsRows() bool { return len(s.its.Chooses) > 0 }

// Suits reports whether the scenario can use a testbed.
func (s Scenario) Suits(bed testbed.Testbed) bool {
	if len(bed.Scenarios) == 0 {
		return s.its.Testbed != check.OwnTestbed
	}
	return slices.Contains(bed.Scenarios, s.Name)
}

// Scenarios lists the scripts under root/scripts: systems by name, and the scenarios of each in the order of its file.
func Scenarios(root string) (all []Scenario, err error) {
	for _, name := range listing.Folders(filepath.Join(root, "scripts")) {
		system, problems := check.System(root, name)
		if len(problems) > 0 {
			return nil, errors.New(strings.Join(problems, "\n"))
		}
		for _, its := range system.Scenarios {
			script := filepath.Join(root, "scripts", name, its.Name+".js")
			all = append(all, Scenario{name, its.Name, script, system.Probed, system.OwnLinks, its})
		}
	}
	return all, nil
}

// everything is the value of ONLY that chooses every scenario, also the further ones.
const everything = "all"

// choose returns the scenarios that a run is asked for, and a line about the further scenarios that it leaves out.
func (a Asked) choose() (chosen []Scenario, leftOut string, err error) {
	chosen, err = Scenarios(a.Root)
	if err != nil {
		return nil, "", err
	}
	only := strings.TrimSpace(a.Only)
	if only == everything {
		return chosen, "", nil
	}
	if chosen, err = Select(chosen, only); err != nil || only != "" || !profiles.LeavesOutFurther(a.Profile) {
		return chosen, "", err
	}
	further := seq.Filter(chosen, func(s Scenario) bool { return s.its.Further })
	if len(further) > 0 {
		leftOut = fmt.Sprintf("%s leaves out %d of the scenarios (ONLY=%s runs them, too): %s", a.Profile, len(further), everything, strings.Join(namesOf(further), ", "))
	}
	return seq.Filter(chosen, func(s Scenario) bool { return !s.its.Further }), leftOut, nil
}

// ofSystem returns the scenarios of an unknown scenario's system; the systems if the system is unknown, too.
func ofSystem(item string, known, systems []string) []string {
	system, _, _ := strings.Cut(item, "/")
	if slices.Contains(systems, system) {
		return seq.Filter(known, func(name string) bool { return strings.HasPrefix(name, system+"/") })
	}
	return systems
}

// Select returns the scenarios that only names, in their own order. only is a comma-separated list of SYSTEM,
// SYSTEM/NAME, or SYSTEM-NAME (the form of make targets and result files); "" means all. An unknown name is an error of
// one line.
func Select(all []Scenario, only string) ([]Scenario, error) {
	var known, systems []string
	stems := map[string]string{}
	for _, s := range all {
		known = append(known, s.String())
		stems[s.FileStem()] = s.String()
		if !slices.Contains(systems, s.System) {
			systems = append(systems, s.System)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no scenario: no scripts/SYSTEM/NAME.js")
	}
	wanted := map[string]bool{}
	for item := range strings.SplitSeq(only, ",") {
		item = strings.Trim(strings.TrimSpace(item), "/")
		if item == "" {
			continue
		}
		if name, ok := stems[item]; ok {
			item = name
		}
		switch {
		case slices.Contains(known, item), slices.Contains(systems, item):
			wanted[item] = true
		case strings.Contains(item, "/"):
			return nil, fmt.Errorf("unknown scenario %s%s; there are: %s",
				item, closest.Hint(item, known), strings.Join(ofSystem(item, known, systems), ", "))
		default:
			hint := closest.Hint(item, slices.Concat(systems, slices.Sorted(maps.Keys(stems))))
			return nil, fmt.Errorf("unknown system %s%s; there are: %s (or give SYSTEM/SCENARIO, such as %s)",
				item, hint, strings.Join(systems, ", "), known[0])
		}
	}
	if len(wanted) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s Scenario) bool {
		return !wanted[s.System] && !wanted[s.String()]
	}), nil
}

// Named finds the scenarios with these names, each once. A name has the form of Select.
func Named(root string, names []string) ([]Scenario, *exit.Fault) {
	all, err := Scenarios(root)
	if err != nil {
		return nil, exit.BadUsage("%v", err)
	}
	var chosen []Scenario
	for _, name := range names {
		found, err := Select(all, name)
		if err != nil {
			return nil, exit.BadUsage("%v", err)
		}
		if name != found[0].String() && name != found[0].FileStem() {
			return nil, exit.BadUsage("scenario %q: give SYSTEM/NAME, several with commas between them", name)
		}
		if slices.Contains(namesOf(chosen), found[0].String()) {
			return nil, exit.BadUsage("scenario %s is given twice", found[0])
		}
		chosen = append(chosen, found[0])
	}
	if len(chosen) == 0 {
		return nil, exit.BadUsage("no scenario: give SYSTEM/NAME, several with commas between them")
	}
	return chosen, nil
}
