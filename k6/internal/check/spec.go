// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/testbed"
)

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
