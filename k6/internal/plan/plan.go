// SPDX-License-Identifier: AGPL-3.0-only

// Package plan decides what a run will do: which scenarios on which systems, testbeds and CPUs. It checks as much as
// possible before anything starts.
package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/ambient"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
	"windtunnel/k6/internal/variables"
)

// Plan describes a run before it starts.
type Plan struct {
	Env          environment.Environment
	Scenarios    []Scenario
	LeftOut      []string                   // lines about what is left out: scenarios without a system in the environment, measurements, variables of k6
	NeedsSidecar bool                       // for a testbed or for probes
	beds         map[string]testbed.Testbed // declarations of the scenarios' testbeds, by name
	Placements   map[string]Placement       // by scenario
}

// Make makes the plan, and checks as much as possible before anything starts.
func Make(a Asked) (Plan, *exit.Fault) {
	var p Plan
	if profiles := variables.Find("PROFILE").Choices; !slices.Contains(profiles, a.Profile) {
		return p, exit.BadUsage("unknown profile %s%s; there are: %s",
			a.Profile, closest.Hint(a.Profile, profiles), strings.Join(profiles, ", "))
	}
	if _, err := influx.FromEnvironment(a.Getenv); err != nil {
		return p, exit.BadUsage("%v", err)
	}
	chosen, further, err := a.choose()
	if err != nil {
		return p, exit.BadUsage("%v", err)
	}
	if strings.ContainsAny(a.Env, `/\`) && !filepath.IsAbs(a.Env) {
		return p, exit.BadUsage("environment %q must be a name, such as local, or an absolute path", a.Env)
	}
	env, problems := check.Environment(a.Root, a.Env)
	if len(problems) > 0 {
		return p, exit.BadUsage("%s", strings.Join(problems, "\n"))
	}
	p.Env = env
	if line := variables.Misspelt(a.Environ); line != "" {
		return p, exit.BadUsage("%s", line)
	}
	p.LeftOut = seq.Given(slices.Concat([]string{further}, variables.Near(a.Environ, env.Secrets()),
		[]string{variables.Unread(a.Environ, namesOf(chosen), env.Secrets()), variables.ForeignOf(a.Environ), ambient.Line(a.Environ)}))
	if f := p.choose(a, chosen); f != nil {
		return p, f
	}
	p.leaveOutProbed(a)
	if len(p.Scenarios) == 0 {
		return p, exit.BadUsage("%s", strings.Join(append(p.LeftOut, "nothing is left to run"), "\n"))
	}
	for _, check := range []func(Asked) *exit.Fault{p.checkSystems, p.checkLink, p.checkLimits} {
		if f := check(a); f != nil {
			return p, f
		}
	}
	if _, f := a.sidesOf(p.Scenarios); f != nil {
		return p, f
	}
	if f := a.checkDashboard(); f != nil {
		return p, f
	}
	allowed := cpus.Allowed()
	p.Placements = map[string]Placement{}
	for _, s := range p.Scenarios {
		placed, f := p.resolve(a, s, allowed)
		if f != nil {
			return p, f
		}
		p.Placements[s.String()] = placed
	}
	if f := a.checkValues(p.Scenarios); f != nil {
		return p, f
	}
	return p, CheckClients(a, p.Scenarios)
}

// checkValues rejects values that a script would reject later with the same message.
func (a Asked) checkValues(scenarios []Scenario) *exit.Fault {
	environ := append(slices.Clone(a.Environ), "PROFILE="+a.Profile)
	if lines := variables.WrongValues(environ, namesOf(scenarios)); len(lines) > 0 {
		return exit.BadUsage("%s", strings.Join(lines, "\n"))
	}
	return nil
}

func namesOf(scenarios []Scenario) []string {
	return seq.Map(scenarios, Scenario.String)
}

// Asked is the caller's request. All paths are absolute. Environ is the caller's environment, which k6 and the sidecar
// inherit.
type Asked struct {
	Root      string // the checkout
	Profile   string
	Env       string
	Only      string
	Testbed   string // NAME[:VARIABLE=VALUE,…], replaces the environment's testbed
	URL       string // of a system that is up already, replaces the environment's URL
	Dashboard bool
	Runners   int    // number of k6 processes that share the load; default 1
	Sidecar   string // path of the sidecar
	Environ   []string
}

// Getenv returns a variable of the caller's environment, "" if it is not set.
func (a Asked) Getenv(name string) string {
	return variables.In(a.Environ, name)
}
