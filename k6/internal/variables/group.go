// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// group is the reader of some variables: a system, "*" or "make".
type group struct{ of, title string }

// groups are the groups of the registry: every scenario, each system, make.
func groups() []group {
	all := []group{{"*", "every scenario"}}
	var systems []string
	for _, scenario := range Scenarios() {
		if system := systemOf(scenario); !slices.Contains(systems, system) {
			systems = append(systems, system)
		}
	}
	for _, system := range systems {
		all = append(all, group{system, system})
	}
	return append(all, group{"make", "make itself"})
}

// variables are the variables that the group reads.
func (g group) variables() (of []Variable) {
	for _, v := range All {
		if slices.ContainsFunc(v.Of, func(name string) bool { return systemOf(name) == g.of }) {
			of = append(of, v)
		}
	}
	return of
}

// scenarios names the scenarios of the group that read a variable; nil if all do.
func (g group) scenarios(v Variable) (names []string) {
	if slices.Contains(v.Of, g.of) {
		return nil
	}
	every := 0
	for _, scenario := range Scenarios() {
		if systemOf(scenario) != g.of {
			continue
		}
		every++
		if v.readBy(scenario) {
			names = append(names, nameOf(scenario))
		}
	}
	if len(names) == every {
		return nil
	}
	return names
}

// alsoOfScenarios reports whether scenarios read a variable of make too: then each target has its own bounds and
// default.
func (g group) alsoOfScenarios(v Variable) bool { return g.of == "make" && len(v.Of) > 1 }

func nameOf(scenario string) string { return scenario[strings.Index(scenario, "/")+1:] }

// defaults describes a variable's default in the group: one for all, one for each scenario, or what it depends on.
func (g group) defaults(v Variable) string {
	if g.alsoOfScenarios(v) {
		return "by target"
	}
	var parts []string
	byScenario, several := v.Default.(map[string]any)
	switch {
	case several:
		parts = g.scenarioDefaults(v, byScenario)
	case v.Default != nil:
		parts = []string{written(v.Default)}
	}
	if len(v.DefaultBy) > 0 && (!several || !g.hasAll(v)) {
		parts = append(parts, "by "+strings.Join(v.DefaultBy, " and "))
	}
	return strings.Join(parts, ", ")
}

// scenarioDefaults are the defaults of the group's scenarios: one if all are the same, otherwise each with the scenario's
// name.
func (g group) scenarioDefaults(v Variable, byScenario map[string]any) []string {
	var parts, values []string
	for _, scenario := range Scenarios() {
		value := v.defaultOf(scenario)
		if systemOf(scenario) != g.of || !v.readBy(scenario) || value == nil {
			continue
		}
		if text := written(value); !slices.Contains(values, text) {
			values = append(values, text)
		}
		parts = append(parts, nameOf(scenario)+" "+written(value))
	}
	if len(values) == 1 && g.hasAll(v) {
		return values
	}
	return parts
}

// hasAll reports whether the registry has a default for each scenario of the group that reads the variable.
func (g group) hasAll(v Variable) bool {
	return !slices.ContainsFunc(Scenarios(), func(scenario string) bool {
		return systemOf(scenario) == g.of && v.readBy(scenario) && v.defaultOf(scenario) == nil
	})
}

func written(value any) string {
	if number, ok := value.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64) // without an exponent, as a user types it
	}
	return fmt.Sprint(value)
}

// bounds describes the valid values; "" without bounds.
func (g group) bounds(v Variable) string {
	switch {
	case g.alsoOfScenarios(v):
		return "by target"
	case v.Choices != nil:
		return strings.Join(v.Choices, ", ")
	case v.Unit == Duration:
		return "to " + grouped(*v.Most/3600) + "h"
	case v.Most == nil:
		return ""
	case v.Above != nil:
		return fmt.Sprintf("above %s, to %s", grouped(*v.Above), grouped(*v.Most))
	}
	return fmt.Sprintf("%s to %s", grouped(*v.Least), grouped(*v.Most))
}
