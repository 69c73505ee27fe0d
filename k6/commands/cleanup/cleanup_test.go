// SPDX-License-Identifier: AGPL-3.0-only

package cleanup

import (
	"maps"
	"testing"

	"windtunnel/k6/internal/run"
)

// checkout has the scripts.
const checkout = "../../.."

func TestScriptsAreOfScenariosThatLeaveSomething(t *testing.T) {
	const users, panel = "scripts/users/_cleanup-live.js", "scripts/panel/_cleanup.js"
	ran := func(names ...[2]string) (all []run.Scenario) {
		for _, name := range names {
			all = append(all, run.Scenario{System: name[0], Scenario: name[1]})
		}
		return all
	}
	scale, live, list := [2]string{"users", "scale"}, [2]string{"users", "live"}, [2]string{"panel", "users-list"}
	for name, c := range map[string]struct {
		system string
		ran    []run.Scenario
		want   map[string]string
	}{
		"users/scale leaves nothing":         {"", ran(scale), nil},
		"users/live leaves users":            {"", ran(scale, live), map[string]string{"users": users}},
		"each scenario of a panel may":       {"", ran(scale, list), map[string]string{"panel": panel}},
		"one system of two":                  {"users", ran(live, list), map[string]string{"users": users}},
		"a system whose scenarios are known": {"users", ran(scale, list), nil},
		"a run that is not known":            {"users", nil, map[string]string{"users": users}},
		"a system that leaves nothing":       {"dataplane", nil, nil},
	} {
		if got := scriptsOf(checkout, c.system, c.ran); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
