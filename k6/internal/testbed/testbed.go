// SPDX-License-Identifier: AGPL-3.0-only

// Package testbed knows what a testbed file declares: its variables and outputs. Checking values and starting it are the
// sidecar's.
package testbed

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Testbed is the part of a testbed file that other files refer to.
type Testbed struct {
	Name      string              `json:"name"`
	System    string              `json:"system"`
	Also      []string            `json:"also"`      // other systems whose scenarios start it
	Scenarios []string            `json:"scenarios"` // the only ones that it is for; none: all
	Variables map[string]Variable `json:"variables"`
	Outputs   map[string]string   `json:"outputs"`
	Sweep     *Sweep              `json:"sweep"`
}

// Sweep is what a sweep varies unless told otherwise: a declared variable and its values, where the variables of Only
// have theirs.
type Sweep struct {
	Variable string            `json:"variable"`
	Values   []any             `json:"values"`
	Only     map[string]string `json:"only"`
}

// Applies reports whether there is this sweep with such variables.
func (s Sweep) Applies(variables map[string]any) bool {
	for name, value := range s.Only {
		if variables[name] != value {
			return false
		}
	}
	return true
}

// List is the values with commas between, as the variable VALUES takes them.
func (s Sweep) List() string {
	texts := make([]string, len(s.Values))
	for i, value := range s.Values {
		texts[i] = fmt.Sprint(value)
	}
	return strings.Join(texts, ",")
}

// Variable is a declared variable, which must be given where Default is nil. What values it takes, the sidecar knows: Check.
type Variable struct {
	Type    string `json:"type"`
	Default any    `json:"default"`
}

// Starts reports whether it starts a system.
func (t Testbed) Starts(system string) bool {
	return t.System == system || slices.Contains(t.Also, system)
}

// IsPort reports whether a variable is a port: one that differs says nothing about a system. Where
// the testbed file is unknown (t is the zero Testbed), the name tells.
func (t Testbed) IsPort(variable string) bool {
	if declared, ok := t.Variables[variable]; ok {
		return declared.Type == "port"
	}
	return strings.HasSuffix(variable, "port")
}

// Names returns the names of the variables, sorted.
func (t Testbed) Names() []string { return slices.Sorted(maps.Keys(t.Variables)) }
