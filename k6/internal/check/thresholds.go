// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/testbed"
)

// checkThresholds finds thresholds of unknown scenarios and operations: they would bound nothing. base is the folder
// with scripts and testbeds, path the environment's file.
func checkThresholds(base, path, system string, of environment.System) []schema.Problem {
	known := scenarios(base, system)
	if len(known) == 0 || os.Getenv(askedFor) != "" {
		return nil
	}
	var problems []schema.Problem
	for _, scenario := range slices.Sorted(maps.Keys(of.Thresholds)) {
		field := []string{"systems", system, "thresholds", scenario}
		if !slices.Contains(known, scenario) {
			problems = append(problems, noSuch(field, "there is no such scenario; there are", scenario, known))
			continue
		}
		problems = append(problems, checkOperations(base, path, field, of, slices.Sorted(maps.Keys(of.Thresholds[scenario])))...)
	}
	return problems
}

// broughtAlong is the file with a system's default thresholds, in the folder of its scripts.
const broughtAlong = "thresholds.json"

// checkBroughtAlong checks scripts/SYSTEM/thresholds.json; a script rejects operations that it does not have.
func checkBroughtAlong(path string, doc any) []schema.Problem {
	problems := schema.Check(schema.Thresholds, doc)
	absolute, err := filepath.Abs(path)
	if err != nil || len(problems) > 0 {
		return problems
	}
	folder := filepath.Dir(absolute)
	known := scenarios(filepath.Join(folder, "..", ".."), filepath.Base(folder))
	of, _ := doc.(map[string]any)
	return noneSuch(nil, "there is no such scenario; there are", slices.Sorted(maps.Keys(of)), known)
}

// checkOperations finds names that are no operations of a scenario. field is the location of the thresholds.
func checkOperations(base, path string, field []string, of environment.System, names []string) []schema.Problem {
	system, scenario := field[1], field[3]
	absolute, err := filepath.Abs(path)
	if err != nil {
		return []schema.Problem{{Message: err.Error()}}
	}
	script, err := filepath.Abs(filepath.Join(base, "scripts", system, scenario+".js"))
	if err != nil {
		return []schema.Problem{{Message: err.Error()}}
	}
	its := operations{script: script, environment: absolute, variables: sweepOf(base, of.TestbedOf(scenario))}
	var problems []schema.Problem
	for _, name := range names {
		if its.has(name) {
			continue
		}
		if len(its.known) == 0 {
			return []schema.Problem{{Field: schema.Field(field), Message: "its operations are unknown: " + its.refusal}}
		}
		slices.Sort(its.known)
		problems = append(problems, noSuch(append(slices.Clone(field), name), "there is no such operation; there are", name, its.known))
	}
	return problems
}

func scenarios(base, system string) []string {
	return slices.DeleteFunc(listing.Stems(filepath.Join(base, "scripts", system), ".js"), func(name string) bool {
		return strings.HasPrefix(name, "_") || strings.HasSuffix(name, ".test")
	})
}

// sweepOf returns the variables that describe the testbed's sweep to a script, nil without a sweep.
func sweepOf(base string, ref *environment.TestbedRef) []string {
	var bed testbed.Testbed
	if ref == nil || document.Decode(filepath.Join(base, "testbeds", ref.Name+".toml"), &bed) != nil || bed.Sweep == nil {
		return nil
	}
	variables := map[string]any{}
	for name, declared := range bed.Variables {
		variables[name] = declared.Default
	}
	maps.Copy(variables, ref.Variables)
	if !bed.Sweep.Applies(variables) || os.Getenv("SWEEP") != "" {
		return nil
	}
	return []string{"SWEEP=" + bed.Sweep.Variable, "VALUES=" + bed.Sweep.List()}
}
