// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/schema"
)

// systemFile says of a system what the bench needs to know; a system that k6 itself loads needs no such file.
const systemFile = "system.toml"

// OfSystem is the content of scripts/SYSTEM/system.toml.
type OfSystem struct {
	Probed    bool         `json:"probed"`
	OwnLinks  bool         `json:"own_links"`
	Testbeds  []string     `json:"testbeds"`
	Scenarios []OfScenario `json:"scenarios"`
}

// OfScenario is what the bench needs to know of a scenario; system.schema.json describes it.
type OfScenario struct {
	Name       string   `json:"name"`
	Further    bool     `json:"further"`
	Testbed    string   `json:"testbed"`
	Chooses    []string `json:"chooses"`
	NotInSmoke []string `json:"not_in_smoke"`
}

// OwnTestbed is the value of OfScenario.Testbed for a scenario whose testbed has to name it.
const OwnTestbed = "own"

// System reads a system's file, which may be missing, and adds the scenarios that it does not name. For a malformed file
// it returns the problems, one line each.
func System(root, name string) (of OfSystem, problems []string) {
	display := filepath.Join("scripts", name, systemFile)
	path := filepath.Join(root, display)
	if _, err := os.Stat(path); err == nil {
		problems = read(root, path, display, &of)
	}
	others := scenarios(root, name)
	for _, s := range of.Scenarios {
		i := slices.Index(others, s.Name)
		if i < 0 {
			problems = append(problems, fmt.Sprintf("%s: scenarios: there is no %s, or it is named twice%s", display, s.Name, closest.Hint(s.Name, others)))
			continue
		}
		others = slices.Delete(others, i, i+1)
	}
	for _, other := range others {
		of.Scenarios = append(of.Scenarios, OfScenario{Name: other})
	}
	return of, problems
}

// settingsSchema is the optional schema of a system's settings, in the folder of its scripts.
const settingsSchema = "settings.schema.json"

// checkSystem finds a system without scripts, and settings that its scripts do not know.
func checkSystem(base, name string, of environment.System) []schema.Problem {
	known := listing.Folders(filepath.Join(base, "scripts"))
	if len(known) > 0 && !slices.Contains(known, name) {
		return []schema.Problem{noSuch([]string{"systems", name}, "there is no folder scripts/"+name+"; there are", name, known)}
	}
	if its, found := System(base, name); len(found) == 0 && !its.Probed && (of.Placement != nil || of.Target != environment.Target{}) {
		return []schema.Problem{{Field: schema.Field([]string{"systems", name}), Message: fmt.Sprintf(
			"placement and target are of probed systems; write probed = true into scripts/%s/%s, or remove them", name, systemFile)}}
	}
	path := filepath.Join(base, "scripts", name, settingsSchema)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	settings := []string{"systems", name, "settings"}
	problems, err := schema.CheckBy(path, of.Settings)
	if err != nil {
		return []schema.Problem{{Field: schema.Field(settings), Message: fmt.Sprintf(
			"scripts/%s/%s is no JSON Schema: %s", name, settingsSchema, strings.ReplaceAll(err.Error(), "\n", " "))}}
	}
	for i, problem := range problems {
		problems[i].Field = schema.Field(settings)
		if problem.Field != "" {
			problems[i].Field += "." + problem.Field
		}
	}
	return problems
}
