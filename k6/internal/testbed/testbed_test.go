// SPDX-License-Identifier: AGPL-3.0-only

package testbed

import (
	"path/filepath"
	"testing"
)

func TestASweepAppliesWhereItsVariablesHaveTheirValues(t *testing.T) {
	for _, c := range []struct {
		only      map[string]string
		variables map[string]any
		applies   bool
	}{
		{nil, map[string]any{"engine": "xray"}, true},
		{map[string]string{"engine": "xray"}, map[string]any{"engine": "xray", "gogc": 100.0}, true},
		{map[string]string{"engine": "xray"}, map[string]any{"engine": "sing-box"}, false},
		{map[string]string{"engine": "xray"}, nil, false},
	} {
		if got := (Sweep{Only: c.only}).Applies(c.variables); got != c.applies {
			t.Errorf("%v with %v: %v", c.only, c.variables, got)
		}
	}
}

func TestAPathIsAbsoluteAndLeadsSomewhere(t *testing.T) {
	here := t.TempDir()
	optional, needed := Variable{Type: "path", Default: ""}, Variable{Type: "path"}
	for _, c := range []struct {
		declared       Variable
		text           string
		wrong, missing string
	}{
		{optional, here, "", ""},
		{optional, "", "", ""},
		{needed, "", `"" is not an absolute path`, ""},
		{optional, "venv/bin/python", `"venv/bin/python" is not an absolute path`, "venv/bin/python: no such file"},
		{optional, filepath.Join(here, "none"), "", filepath.Join(here, "none") + ": no such file"},
		{Variable{Type: "path", Default: "/no/such"}, "/no/such", "", ""},
		{Variable{Type: "string", Default: ""}, "/no/such", "", ""},
	} {
		value, wrong := c.declared.Parse(c.text)
		if wrong != c.wrong || c.declared.Missing(value) != c.missing {
			t.Errorf("%q: %q, %q", c.text, wrong, c.declared.Missing(value))
		}
	}
}
