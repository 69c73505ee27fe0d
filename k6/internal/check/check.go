// SPDX-License-Identifier: AGPL-3.0-only

// Package check checks whole files: by their schema, and by rules that a schema cannot express, such as a file's name or
// references between files.
package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// File returns the problems of an environment, testbed, protocol row, result, comparison or primitives file. Each
// problem is one line that starts with the file's name as given by display. A valid file has no problems.
func File(root, path, display string) []string {
	doc, err := document.Read(path)
	if err != nil {
		return []string{display + ": " + err.Error()}
	}
	var problems []schema.Problem
	switch kind, wrong := kindOf(path, doc); {
	case wrong != "":
		problems = []schema.Problem{{Message: wrong}}
	case kind == schema.Environment:
		problems = checkEnvironment(root, path, doc)
	case kind == schema.Testbed:
		problems = checkTestbed(root, path, doc)
	case kind == schema.Thresholds:
		problems = checkBroughtAlong(path, doc)
	case kind == runRecord:
		if err := run.Check(doc); err != nil {
			problems = []schema.Problem{{Message: err.Error()}}
		}
	default:
		problems = schema.Check(kind, doc)
	}
	return seq.Map(problems, func(p schema.Problem) string { return display + ": " + p.String() })
}

// Environment reads environments/NAME.json under root, or the file with an absolute path. For a missing or malformed
// file it returns the problems instead, one line each.
func Environment(root, name string) (environment.Environment, []string) {
	var env environment.Environment
	display := filepath.Join("environments", name+".json")
	path := filepath.Join(root, display)
	if filepath.IsAbs(name) {
		display, path = name, name
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		if filepath.IsAbs(name) {
			return env, []string{name + ": no such file; ENV is a name in environments/ or the absolute path of a .json file"}
		}
		return env, []string{missingEnvironment(root, name)}
	}
	problems := read(root, path, display, &env)
	return env, problems
}

// read stores a valid file in v by its JSON tags, and returns the problems of a malformed file.
func read(root, path, display string, v any) []string {
	if problems := File(root, path, display); len(problems) > 0 {
		return problems
	}
	if err := document.Decode(path, v); err != nil {
		return []string{display + ": " + err.Error()}
	}
	return nil
}

// Testbed reads a testbed file that File found valid.
func Testbed(root, name string) (testbed.Testbed, error) {
	var t testbed.Testbed
	err := document.Decode(filepath.Join(root, "testbeds", name+".toml"), &t)
	return t, err
}

func missingEnvironment(root, name string) string {
	known := listing.Stems(filepath.Join(root, "environments"), ".json")
	if slices.Contains(known, name+".example") {
		return fmt.Sprintf("no environment %s; copy environments/%s.example.json to environments/%s.json and edit it",
			name, name, name)
	}
	if len(known) == 0 {
		return fmt.Sprintf("no environment %s; write environments/%s.json", name, name)
	}
	return fmt.Sprintf("no environment %s; there are: %s", name, strings.Join(known, ", "))
}

// runRecord is a results/RUN/run.json. Only Windtunnel writes it, so its Go types serve as its schema.
const runRecord schema.Kind = "run"

func ofTOML(path string) schema.Kind {
	folder := filepath.Dir(path)
	switch filepath.Join(filepath.Base(filepath.Dir(folder)), filepath.Base(folder)) {
	case "protocols/rows":
		return schema.ProtocolRow
	case "protocols/engines":
		return schema.ProtocolEngine
	case filepath.Join("scripts", filepath.Base(folder)):
		return schema.System
	}
	return schema.Testbed
}

// kindOf returns the kind of a document from its schema field, or from its path. The second value says what is wrong if
// neither gives the kind.
func kindOf(path string, doc any) (schema.Kind, string) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err.Error()
	}
	folder := filepath.Dir(absolute)
	if filepath.Ext(path) == ".toml" {
		return ofTOML(absolute), ""
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return "", "must be a JSON object"
	}
	if filepath.Base(filepath.Dir(folder)) == "scripts" && filepath.Base(path) == broughtAlong {
		return schema.Thresholds, ""
	}
	says, _ := object["schema"].(string)
	for _, kind := range []schema.Kind{schema.Environment, schema.Result, schema.Comparison, schema.Primitives, runRecord} {
		if strings.HasPrefix(says, "windtunnel."+string(kind)+"/") {
			return kind, ""
		}
	}
	if _, ok := object["systems"]; ok || filepath.Base(folder) == "environments" {
		return schema.Environment, ""
	}
	if _, ok := object["operations"]; ok {
		return schema.Result, ""
	}
	return "", `schema: missing or unknown; give "windtunnel.environment/1" or "windtunnel.result/2"`
}

// Beds returns a function that reads what a testbed of the checkout declares. It returns the zero value for an unknown
// testbed or an empty base: callers then go by the names of the variables.
func Beds(base string) func(string) testbed.Testbed {
	return func(name string) testbed.Testbed {
		if base == "" {
			return testbed.Testbed{}
		}
		bed, err := Testbed(base, name)
		if err != nil {
			return testbed.Testbed{}
		}
		return bed
	}
}

// checkTestbed checks a testbed file against its schema. For a testbed of the checkout it also asks the sidecar, if the
// sidecar is built: only the sidecar knows its templates and regular expressions.
func checkTestbed(root, path string, doc any) []schema.Problem {
	problems := schema.Check(schema.Testbed, doc)
	if len(problems) > 0 || root == "" || !sameFile(filepath.Dir(path), filepath.Join(root, "testbeds")) {
		return problems
	}
	if line := testbed.Refusal(root, strings.TrimSuffix(filepath.Base(path), ".toml")); line != "" {
		return []schema.Problem{{Message: line}}
	}
	return nil
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// TestbedSpec parses the value of TESTBED and `k6 x compare`, NAME or NAME:VARIABLE=VALUE,…: a testbed of the checkout
// and values, typed as its file declares them. A part without = belongs to the value before it, so a CPU list such as
// cpus=0,2 works. The error is one line.
func TestbedSpec(root, text string) (environment.TestbedRef, testbed.Testbed, error) {
	name, assignments, _ := strings.Cut(strings.TrimSpace(text), ":")
	ref := environment.TestbedRef{Name: name, Variables: map[string]any{}}
	var bed testbed.Testbed
	file := filepath.Join("testbeds", name+".toml")
	path := filepath.Join(root, file)
	if _, err := os.Stat(path); err != nil || name == "" || strings.ContainsAny(name, `/\`) {
		known := listing.Stems(filepath.Join(root, "testbeds"), ".toml")
		return ref, bed, fmt.Errorf("there is no testbed %q; there are: %s%s", name,
			strings.Join(known, ", "), closest.Hint(name, known))
	}
	if problems := File("", path, file); len(problems) > 0 {
		return ref, bed, fmt.Errorf("%s", problems[0])
	}
	bed, err := Testbed(root, name)
	if err != nil {
		return ref, bed, fmt.Errorf("%s: %w", file, err)
	}
	pairs := splitAssignments(assignments)
	if len(pairs) == 0 {
		return ref, bed, nil
	}
	given := map[string]string{}
	for _, pair := range pairs {
		variable, value, ok := strings.Cut(pair, "=")
		if !ok {
			return ref, bed, fmt.Errorf("testbed %s: %q is no VARIABLE=VALUE", name, pair)
		}
		given[variable] = value
	}
	checked, err := testbed.Check(root, name, pairs, nil)
	if err != nil {
		return ref, bed, err
	}
	for _, wrong := range checked.Problems {
		if wrong.Is != testbed.Missing {
			return ref, bed, fmt.Errorf("testbed %s: variable %s: %s", name, wrong.Variable, wrong.Said(given[wrong.Variable]))
		}
	}
	if checked.Refused != "" {
		return ref, bed, fmt.Errorf("testbed %s: %s", name, checked.Refused)
	}
	ref.Variables = checked.Given
	return ref, bed, nil
}

// splitAssignments splits at commas that are followed by VARIABLE=.
func splitAssignments(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		switch {
		case len(parts) > 0 && !strings.Contains(part, "="):
			parts[len(parts)-1] += "," + part
		case part != "":
			parts = append(parts, part)
		}
	}
	return parts
}
