// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/seq"
)

// Group is the reader of some variables: a system, "*" or "make". It is a part of the registry.
type Group struct{ of, Title string }

// Groups are the groups of the registry, in the order of its page: every scenario, each system, make.
func Groups() []Group {
	all := []Group{{"*", "every scenario"}}
	systems := seq.Map(seq.Distinct(seq.Map(Scenarios(), systemOf)), func(system string) Group { return Group{system, system} })
	return append(append(all, systems...), Group{"make", "make itself"})
}

// Variables are the variables that the group reads.
func (g Group) Variables() []Variable {
	return seq.Filter(All, func(v Variable) bool {
		return slices.ContainsFunc(v.Of, func(name string) bool { return systemOf(name) == g.of })
	})
}

// scenarios names the scenarios of the group that read a variable; nil if all do.
func (g Group) scenarios(v Variable) (names []string) {
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
func (g Group) alsoOfScenarios(v Variable) bool { return g.of == "make" && len(v.Of) > 1 }

func nameOf(scenario string) string { return scenario[strings.Index(scenario, "/")+1:] }

// defaults describes a variable's default in the group: one for all, one for each scenario, or what it depends on.
func (g Group) defaults(v Variable) string {
	if g.alsoOfScenarios(v) {
		return "by target"
	}
	var parts []string
	byScenario, several := v.Default.(map[string]any)
	switch {
	case several:
		parts = g.scenarioDefaults(v, byScenario)
	case v.Default != nil:
		parts = []string{format.Plain(v.Default)}
	}
	if len(v.DefaultBy) > 0 && (!several || !g.hasAll(v)) {
		parts = append(parts, "by "+strings.Join(v.DefaultBy, " and "))
	}
	return strings.Join(parts, ", ")
}

// scenarioDefaults are the defaults of the group's scenarios: one if all are the same, otherwise each with the scenario's
// name.
func (g Group) scenarioDefaults(v Variable, byScenario map[string]any) []string {
	var parts, values []string
	for _, scenario := range Scenarios() {
		value := v.defaultOf(scenario)
		if systemOf(scenario) != g.of || !v.readBy(scenario) || value == nil {
			continue
		}
		if text := format.Plain(value); !slices.Contains(values, text) {
			values = append(values, text)
		}
		parts = append(parts, nameOf(scenario)+" "+format.Plain(value))
	}
	if len(values) == 1 && g.hasAll(v) {
		return values
	}
	return parts
}

// hasAll reports whether the registry has a default for each scenario of the group that reads the variable.
func (g Group) hasAll(v Variable) bool {
	return !slices.ContainsFunc(Scenarios(), func(scenario string) bool {
		return systemOf(scenario) == g.of && v.readBy(scenario) && v.defaultOf(scenario) == nil
	})
}

// bounds describes the valid values; "" without bounds.
func (g Group) bounds(v Variable) string {
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
