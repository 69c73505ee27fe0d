// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"strings"

	"windtunnel/k6/internal/seq"
)

// The groups of flags that not every comparison takes: flags of two builds, and flags for the judgement of scenarios.
const (
	OfBuilds  = "Sides that are built before"
	OfJudging = "How long, and how much worse"
)

// OfCommand returns the variables that are flags of a command, by name.
func OfCommand(name string) []Variable {
	return seq.Filter(All, func(v Variable) bool {
		_, is := v.Flags[name]
		return is
	})
}

// GivenTo returns an environment's values of the variables that are flags of a command, by name. line says what is wrong with the first
// wrong value.
func GivenTo(command string, environ []string) (given map[string]string, line string) {
	given = map[string]string{}
	for _, v := range OfCommand(command) {
		if given[v.Name] = In(environ, v.Name); given[v.Name] != "" && line == "" {
			line = Wrong(v.Name, given[v.Name], false)
		}
	}
	return given, line
}

// FlagName is the name of the flag that sets a variable: RUN_ID is run-id.
func FlagName(variable string) string {
	return strings.ReplaceAll(strings.ToLower(variable), "_", "-")
}

// Explain says what a variable is, as the help of its flag: with its choices, but without its default.
func Explain(name string) string {
	v := Find(name)
	if v.Unit == Choice {
		return v.What + ": " + strings.Join(v.Choices, ", ")
	}
	return v.What
}
