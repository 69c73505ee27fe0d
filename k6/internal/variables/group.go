// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// group is what reads some variables: a system, or "*" or "make".
type group struct{ of, title string }

// groups are those of the registry: every scenario, each system, make.
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

// variables are those that the group reads.
func (g group) variables() (of []Variable) {
	for _, v := range All {
		if slices.ContainsFunc(v.Of, func(name string) bool { return systemOf(name) == g.of }) {
			of = append(of, v)
		}
	}
	return of
}

// scenarios are the names of those of the group that read a variable; none where all do.
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

// alsoOfScenarios reports whether a variable of make is one of scenarios, too: each target has then bounds and a default of
// its own.
func (g group) alsoOfScenarios(v Variable) bool { return g.of == "make" && len(v.Of) > 1 }

func nameOf(scenario string) string { return scenario[strings.Index(scenario, "/")+1:] }

// defaults is a variable's default in the group, as text: the same for all, or each scenario's own, or what it depends on.
func (g group) defaults(v Variable) string {
	if g.alsoOfScenarios(v) {
		return "by target"
	}
	var parts []string
	byScenario, several := v.Default.(map[string]any)
	switch {
	case several:
		parts = g.ownDefaults(v, byScenario)
	case v.Default != nil:
		parts = []string{written(v.Default)}
	}
	if len(v.DefaultBy) > 0 && (!several || !g.hasAll(v)) {
		parts = append(parts, "by "+strings.Join(v.DefaultBy, " and "))
	}
	return strings.Join(parts, ", ")
}

// ownDefaults are the defaults of the group's scenarios: one where they are the same for all, else each with its name.
func (g group) ownDefaults(v Variable, byScenario map[string]any) []string {
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

// hasAll reports whether the registry has a default for all scenarios of the group that read the variable.
func (g group) hasAll(v Variable) bool {
	return !slices.ContainsFunc(Scenarios(), func(scenario string) bool {
		return systemOf(scenario) == g.of && v.readBy(scenario) && v.defaultOf(scenario) == nil
	})
}

func written(value any) string {
	if number, ok := value.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64) // as one types it
	}
	return fmt.Sprint(value)
}

// bounds is what a value may be, as text; "" where nothing bounds it.
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
