// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/variables"
)

// environmentSide is the prefix of a side that is a separate environment.
const environmentSide = "env:"

var letters = []string{"A", "B"}

var urlSide = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// Side returns the request for one side of a comparison. spec is a testbed in the form of TESTBED; or the URL of a
// system that is up, which replaces the environment's; or env:NAME, a separate environment. letter is A or B. For a URL,
// a variable NAME_A or NAME_B replaces the variable NAME that the environment names, so that each side can have its own
// secrets.
func (a Asked) Side(spec, letter string, scenarios []Scenario) (Asked, *exit.Fault) {
	spec = strings.TrimSpace(spec)
	system := scenarios[0].System
	a.Testbed, a.URL = "", ""
	name, isEnvironment := strings.CutPrefix(spec, environmentSide)
	switch {
	case isEnvironment:
		if variable := environment.URLVariable(system); a.Getenv(variable) != "" {
			return a, exit.BadUsage("%s=%s: %s is set and would replace the environment's URL: unset it", letter, spec, variable)
		}
		a.Env = name
		return a, nil
	case !urlSide.MatchString(spec):
		a.Testbed = spec
		return a, nil
	}
	if u, err := url.Parse(spec); err != nil || u.User != nil || u.Host == "" {
		return a, exit.BadUsage("%s is not the URL of a system: give SCHEME://HOST[:PORT] without a user and a password, which come from variables", letter)
	}
	if i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.System != system }); i >= 0 {
		return a, exit.BadUsage("%s=%s is of one system, and the scenarios are of %s and %s: compare them one by one", letter, spec, system, scenarios[i].System)
	}
	env, problems := check.Environment(a.Root, a.Env)
	if len(problems) > 0 {
		return a, exit.BadUsage("%s", strings.Join(problems, "\n"))
	}
	a.URL = strings.TrimRight(spec, "/")
	a.Environ = append(variables.Without(a.Environ, environment.URLVariable(system)), environment.URLVariable(system)+"="+a.URL)
	for _, variable := range append(env.Systems[system].Secrets(), environment.UsernameVariable(system)) {
		a.Environ = ofSide(a.Environ, variable, letter)
	}
	return a, nil
}

// ofSide removes NAME_A and NAME_B from an environment, and sets NAME to the value of the letter's variable.
func ofSide(environ []string, variable, letter string) []string {
	kept := variables.Without(environ, variable+"_A", variable+"_B")
	if own := variables.In(environ, variable+"_"+letter); own != "" {
		kept = append(variables.Without(kept, variable), variable+"="+own)
	}
	return kept
}

// replaceURL puts the caller's URL into the environment, for the system of the scenarios.
func (p *Plan) replaceURL(a Asked, chosen []Scenario) *exit.Fault {
	if a.URL == "" {
		return nil
	}
	name := chosen[0].System
	system, ok := p.Env.Systems[name]
	if !ok {
		return exit.BadUsage("%s has no system %s (it has: %s): give ENV=… that says how to sign in there", a.shownEnvironment(), name,
			strings.Join(p.Env.Names(), ", "))
	}
	system.URL, system.Testbed, system.Testbeds = a.URL, nil, nil
	p.Env.Systems[name] = system
	return nil
}
