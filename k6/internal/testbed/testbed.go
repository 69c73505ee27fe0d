// SPDX-License-Identifier: AGPL-3.0-only

// Package testbed reads the declarations of a testbed file: variables and outputs. The sidecar checks values and starts
// the testbed.
package testbed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/seq"
)

// Testbed is the part of a testbed file that other files refer to.
type Testbed struct {
	Name      string              `json:"name"`
	System    string              `json:"system"`
	Also      []string            `json:"also"`      // other systems, whose scenarios start this testbed
	Scenarios []string            `json:"scenarios"` // the only scenarios that the testbed is for; empty means all
	Variables map[string]Variable `json:"variables"`
	Outputs   map[string]string   `json:"outputs"`
	Sweep     *Sweep              `json:"sweep"`
}

// Sweep is the default sweep: a declared variable and its values. It applies if the variables in Only have the given
// values.
type Sweep struct {
	Variable string            `json:"variable"`
	Values   []any             `json:"values"`
	Only     map[string]string `json:"only"`
}

// Applies reports whether the sweep exists and applies to these variables.
func (s Sweep) Applies(variables map[string]any) bool {
	for name, value := range s.Only {
		if variables[name] != value {
			return false
		}
	}
	return true
}

// List joins the values with commas, in the form of the variable VALUES.
func (s Sweep) List() string {
	return strings.Join(seq.Map(s.Values, func(value any) string { return fmt.Sprint(value) }), ",")
}

// Variable is a declared variable, which is required if Default is nil. Only the sidecar knows its valid values: see
// Check.
type Variable struct {
	Type    string `json:"type"`
	Default any    `json:"default"`
}

// Starts reports whether the testbed starts a system.
func (t Testbed) Starts(system string) bool {
	return t.System == system || slices.Contains(t.Also, system)
}

// IsPort reports whether a variable is a port: different ports are no difference between systems. For an unknown testbed
// file (t is the zero Testbed), the name decides.
func (t Testbed) IsPort(variable string) bool {
	if declared, ok := t.Variables[variable]; ok {
		return declared.Type == "port"
	}
	return strings.HasSuffix(variable, "port")
}

// Names returns the names of the variables, sorted.
func (t Testbed) Names() []string { return slices.Sorted(maps.Keys(t.Variables)) }
