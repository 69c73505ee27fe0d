// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/variables"
)

// leaveOutProbed leaves out the sidecar's measurements from a run with several runners: the probes are one process
// beside the system.
func (p *Plan) leaveOutProbed(a Asked) {
	if a.Runners < 2 {
		return
	}
	var left []string
	p.Scenarios = slices.DeleteFunc(p.Scenarios, func(s Scenario) bool {
		if s.Probed {
			left = append(left, s.String())
			return true
		}
		return false
	})
	if len(left) > 0 {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("RUNNERS=%d: left out, since the sidecar's probes make their load, and not k6: %s", a.Runners, strings.Join(left, ", ")))
	}
}

// CheckClients rejects more runners than a scenario has clients: a runner without clients would do nothing.
func CheckClients(a Asked, scenarios []Scenario) *exit.Fault {
	if a.Runners < 2 {
		return nil
	}
	for _, s := range scenarios {
		clients, err := check.Clients(s.Script, a.ofScript())
		switch {
		case err != nil:
			return exit.BadUsage("%s: its number of clients is unknown: %v", s, err)
		case clients < a.Runners && isFixed(s):
			return exit.BadUsage("%s has %s in a loop, which no variable changes, but the run has %d runners, so one would do nothing: leave out RUNNERS, or leave out the scenario",
				s, format.Plural(clients, "client"), a.Runners)
		case clients < a.Runners:
			return exit.BadUsage("%s has %s in a loop, but the run has %d runners, so one would do nothing: give RUNNERS=%d at most, or CLIENTS=%d or more",
				s, format.Plural(clients, "client"), a.Runners, clients, a.Runners)
		}
	}
	return nil
}

// RunsAtOnce reports whether the load of a scenario can run at once with the load of another run.
func RunsAtOnce(a Asked, s Scenario) bool { return check.RunsAtOnce(s.Script, a.ofScript()) }

// ofScript are the variables with which a script answers a query.
func (a Asked) ofScript() []string {
	return append(slices.Clone(a.Environ), "PROFILE="+a.Profile, "ENV="+a.environmentFile())
}

// isFixed reports whether no variable sets the scenario's number of clients. The registry does not
// have a user's own scenario.
func isFixed(s Scenario) bool {
	return slices.Contains(variables.Scenarios(), s.String()) && !variables.ReadBy("CLIENTS", s.String())
}

// shownEnvironment is the environment's file in messages.
func (a Asked) shownEnvironment() string {
	if filepath.IsAbs(a.Env) {
		return a.Env
	}
	return "environments/" + a.Env + ".json"
}

func (a Asked) environmentFile() string {
	if filepath.IsAbs(a.Env) {
		return a.Env
	}
	return filepath.Join(a.Root, "environments", a.Env+".json")
}
