// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// checkEnvironment checks an environment file and the testbeds that it names.
func checkEnvironment(root, path string, doc any) []schema.Problem {
	problems := schema.Check(schema.Environment, doc)
	if len(problems) > 0 {
		return problems
	}
	var env environment.Environment
	if err := document.Into(doc, &env); err != nil {
		return []schema.Problem{{Message: err.Error()}}
	}
	file := strings.TrimSuffix(filepath.Base(path), ".json")
	if stem := strings.TrimSuffix(file, ".example"); env.Name != stem && env.Name != file {
		problems = append(problems, nameProblem(env.Name, stem))
	}
	testbeds := testbedsFolder(root, path)
	for _, name := range env.Names() {
		problems = append(problems, checkSystem(filepath.Dir(testbeds), name, env.Systems[name])...)
		if ref := env.Systems[name].Testbed; ref != nil {
			problems = append(problems, checkReference(testbeds, name, *ref, doc, "testbed")...)
		}
		for _, scenario := range slices.Sorted(maps.Keys(env.Systems[name].Testbeds)) {
			ref := env.Systems[name].Testbeds[scenario]
			problems = append(problems, checkReference(testbeds, name, ref, doc, "testbeds", scenario)...)
		}
		problems = append(problems, checkUser(name, env.Systems[name].User)...)
		problems = append(problems, checkPlacement(scenarios(filepath.Dir(testbeds), name), name, env.Systems[name])...)
		problems = append(problems, checkThresholds(filepath.Dir(testbeds), path, name, env.Systems[name])...)
	}
	return problems
}

// testbedsFolder is the folder testbeds beside the environment's folder, or the checkout's: an environment file may be
// kept outside the checkout.
func testbedsFolder(root, path string) string {
	beside := filepath.Join(filepath.Dir(path), "..", "testbeds")
	if _, err := os.Stat(beside); err == nil || root == "" {
		return beside
	}
	return filepath.Join(root, "testbeds")
}

// checkPlacement finds names in a placement that are no scenarios: such an entry has no effect.
func checkPlacement(known []string, system string, of environment.System) []schema.Problem {
	if len(known) == 0 {
		return nil
	}
	return noneSuch([]string{"systems", system, "placement"}, "there is no such scenario; there are", of.Placement.Scenarios(), append([]string{"default"}, known...))
}

// checkUser finds inbounds of a protocol that users do not have: they would be left out silently.
func checkUser(system string, user environment.User) []schema.Problem {
	return noneSuch([]string{"systems", system, "user", "inbounds"}, "user.proxies has no such protocol; it has",
		slices.Sorted(maps.Keys(user.Inbounds)), slices.Sorted(maps.Keys(user.Proxies)))
}

// checkReference checks the reference to a testbed in a system's entry, at a location of the document.
func checkReference(testbeds, system string, ref environment.TestbedRef, doc any, location ...string) []schema.Problem {
	location = append([]string{"systems", system}, location...)
	field := schema.Field(location)
	path := filepath.Join(testbeds, ref.Name+".toml")
	if _, err := os.Stat(path); err != nil {
		known := listing.Stems(testbeds, ".toml")
		if len(known) == 0 {
			known = []string{"none"}
		}
		return []schema.Problem{noSuch(append(location, "name"), "there is no testbeds/"+ref.Name+".toml; there are", ref.Name, known)}
	}
	read, err := document.Read(path)
	if err != nil {
		return []schema.Problem{{Field: field, Message: fmt.Sprintf("testbeds/%s.toml: %v", ref.Name, err)}}
	}
	var bed testbed.Testbed
	if len(schema.Check(schema.Testbed, read)) > 0 || document.Into(read, &bed) != nil {
		return []schema.Problem{{Field: field, Message: fmt.Sprintf(
			"testbeds/%s.toml is malformed; see k6 x validate testbeds/%s.toml", ref.Name, ref.Name)}}
	}
	var problems []schema.Problem
	if !bed.Starts(system) {
		problems = append(problems, schema.Problem{Field: field + ".name", Message: fmt.Sprintf(
			"testbeds/%s.toml starts the system %s, not %s", ref.Name, bed.System, system)})
	}
	values := at(doc, append(slices.Clone(location), "variables")...)
	checked, err := testbed.Check(filepath.Dir(testbeds), ref.Name, nil, values)
	switch {
	case errors.Is(err, testbed.ErrNoSidecar):
		return problems // only the sidecar knows the values of a variable, and a start needs the sidecar anyway
	case err != nil:
		return append(problems, schema.Problem{Field: field, Message: err.Error()})
	}
	for _, wrong := range checked.Problems {
		if wrong.Is == testbed.NoFile {
			continue // the environment may be written before the referenced file is built
		}
		problems = append(problems, schema.Problem{
			Field:   schema.Field(append(slices.Clone(location), "variables", wrong.Variable)),
			Message: wrong.Said(values[wrong.Variable])})
	}
	return problems
}

// noSuch is the problem of a name that is not among the known ones.
func noSuch(field []string, what, name string, known []string) schema.Problem {
	return schema.Problem{Field: schema.Field(field), Message: fmt.Sprintf("%s: %s%s", what, strings.Join(known, ", "), closest.Hint(name, known))}
}

// noneSuch are the problems of the names of an object that are not among the known ones.
func noneSuch(object []string, what string, names, known []string) []schema.Problem {
	unknown := seq.Filter(names, func(name string) bool { return !slices.Contains(known, name) })
	return seq.Map(unknown, func(name string) schema.Problem { return noSuch(append(slices.Clone(object), name), what, name, known) })
}

func nameProblem(name, stem string) schema.Problem {
	return schema.Problem{Field: "name", Message: fmt.Sprintf(
		"%q is not the file's name; make it %q or rename the file", name, stem)}
}

// at returns the object at a location of a document, or nil.
func at(doc any, location ...string) map[string]any {
	object, _ := doc.(map[string]any)
	for _, key := range location {
		object, _ = object[key].(map[string]any)
	}
	return object
}
