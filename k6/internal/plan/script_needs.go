// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// needsFile lies beside a system's scripts: the needs of its scenarios, by name. A scenario without needs is missing in
// it.
const needsFile = "needs.json"

// The kinds of testbeds that a scenario may need.
const (
	anyTestbed = "any" // the scenario starts it repeatedly
	ownTestbed = "own" // a testbed that names the scenario
)

// scriptNeeds is what a scenario needs from the bench.
type scriptNeeds struct {
	// Testbed is anyTestbed, ownTestbed, or "" if a system that is up already is enough.
	Testbed string `json:"testbed"`
	// Chooses are the testbed's variables whose values the scenario sets.
	Chooses []string `json:"chooses"`
	// NotInSmoke are targets of make whose programs a run without PROTOCOL and engines does not start, if its profile leaves out
	// further scenarios.
	NotInSmoke []string `json:"not_in_smoke"`
}

// needs returns the scenario's entry in the file, the zero value without one; Scenarios has rejected a malformed file.
func (s Scenario) needs() scriptNeeds {
	all, _ := readNeeds(filepath.Dir(s.Script))
	return all[s.Name]
}

// StartsRows reports whether the scenario starts what it loads. Then the run's own testbed is spare.
func (s Scenario) StartsRows() bool { return len(s.needs().Chooses) > 0 }

// Suits reports whether the scenario can use a testbed.
func (s Scenario) Suits(bed testbed.Testbed) bool {
	if len(bed.Scenarios) == 0 {
		return s.needs().Testbed != ownTestbed
	}
	return slices.Contains(bed.Scenarios, s.Name)
}

func readNeeds(folder string) (all map[string]scriptNeeds, err error) {
	data, err := os.ReadFile(filepath.Join(folder, needsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := document.Strictly(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", nameOfNeeds(folder), err)
	}
	return all, nil
}

func nameOfNeeds(folder string) string {
	return filepath.Join("scripts", filepath.Base(folder), needsFile)
}

// checkNeeds rejects a file with an unknown scenario or kind of testbed: the entry would have no effect.
func checkNeeds(folder string, scenarios []Scenario) error {
	all, err := readNeeds(folder)
	if err != nil {
		return err
	}
	names := seq.Map(scenarios, func(s Scenario) string { return s.Name })
	for _, name := range slices.Sorted(maps.Keys(all)) {
		needs := all[name]
		switch {
		case !slices.Contains(names, name):
			return fmt.Errorf("%s: %s: there is no such scenario%s", nameOfNeeds(folder), name, closest.Hint(name, names))
		case !slices.Contains([]string{anyTestbed, ownTestbed}, needs.Testbed):
			return fmt.Errorf("%s: %s: testbed %q: choose one of %s", nameOfNeeds(folder), name, needs.Testbed,
				strings.Join([]string{anyTestbed, ownTestbed}, ", "))
		}
	}
	return nil
}
