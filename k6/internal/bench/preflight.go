// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/schema"
)

// fault is one line for the user and the exit code that goes with it.
type fault struct {
	code    int
	message string
}

func usage(format string, args ...any) *fault {
	return &fault{exitcode.Usage, fmt.Sprintf(format, args...)}
}

func setup(format string, args ...any) *fault {
	return &fault{exitcode.Setup, fmt.Sprintf(format, args...)}
}

// plan is what a run will do.
type plan struct {
	env       environment.Environment
	scenarios []Scenario
	leftOut   []string // lines about what is left out: scenarios that the environment has no system for, measurements
	needs     bool     // the sidecar, for a testbed
}

// preflight checks all that can be checked before anything starts.
func preflight(o Options) (plan, *fault) {
	var p plan
	if profiles := schema.Profiles(); !slices.Contains(profiles, o.Profile) {
		return p, usage("unknown profile %s%s; there are: %s",
			o.Profile, closest.Hint(o.Profile, profiles), strings.Join(profiles, ", "))
	}
	all, err := Scenarios(o.Root)
	if err != nil {
		return p, usage("%v", err)
	}
	chosen, err := Select(all, o.Only)
	if err != nil {
		return p, usage("%v", err)
	}
	if strings.ContainsAny(o.Env, `/\`) && !filepath.IsAbs(o.Env) {
		return p, usage("environment %q must be a name, such as local, or an absolute path", o.Env)
	}
	env, problems := check.Environment(o.Root, o.Env)
	if len(problems) > 0 {
		return p, usage("%s", strings.Join(problems, "\n"))
	}
	p.env = env
	p.split(chosen)
	if len(p.scenarios) == 0 {
		return p, usage("%s", strings.Join(append(p.leftOut, "nothing is left to run"), "\n"))
	}
	return p, p.checkSystems(o)
}

// split keeps the scenarios whose system the environment has.
func (p *plan) split(chosen []Scenario) {
	missing := map[string]int{}
	for _, s := range chosen {
		if _, ok := p.env.Systems[s.System]; ok {
			p.scenarios = append(p.scenarios, s)
		} else {
			missing[s.System]++
		}
	}
	for _, s := range chosen {
		if n := missing[s.System]; n > 0 {
			p.leftOut = append(p.leftOut, fmt.Sprintf(
				"environments/%s.json has no system %s: %d of its scenarios left out (it has: %s)",
				p.env.Name, s.System, n, strings.Join(p.env.Names(), ", ")))
			delete(missing, s.System)
		}
	}
}

// checkSystems checks what the systems of the chosen scenarios need: secrets, a confirmation for
// another machine, the sidecar.
func (p *plan) checkSystems(o Options) *fault {
	seen := map[string]bool{}
	for _, s := range p.scenarios {
		if seen[s.System] {
			continue
		}
		seen[s.System] = true
		system := p.env.Systems[s.System]
		if f := p.checkSecrets(o, s.System, system); f != nil {
			return f
		}
		if f := checkConfirmed(o, system); f != nil {
			return f
		}
		p.needs = p.needs || system.Testbed != nil
	}
	info, err := os.Stat(o.Sidecar)
	missing := err != nil || info.IsDir() || info.Mode()&0o111 == 0
	if p.needs && missing {
		return setup("%s", o.sidecarMissing())
	}
	// Without a testbed it still measures the generator.
	p.needs = !missing
	if missing {
		p.leftOut = append(p.leftOut, "CPU and memory are not measured: "+o.sidecarMissing())
	}
	return nil
}

// checkConfirmed refuses load on another machine that CONFIRM_REMOTE does not name.
func checkConfirmed(o Options, system environment.System) *fault {
	hosts := system.RemoteHosts()
	for _, host := range hosts {
		if !slices.Contains(o.confirmed(), host) {
			return usage("%s is not this machine; to put load on it, which you may do only with its owner's consent, set CONFIRM_REMOTE=%s",
				host, strings.Join(hosts, ","))
		}
	}
	return nil
}

// confirmed lists the hosts that are not this machine and that the caller may put under load.
func (o Options) confirmed() []string {
	return slices.DeleteFunc(strings.Split(o.getenv("CONFIRM_REMOTE"), ","), func(host string) bool { return host == "" })
}

func (o Options) sidecarMissing() string {
	name, err := filepath.Rel(o.Root, o.Sidecar)
	if err != nil {
		name = o.Sidecar
	}
	return name + " is missing; run `make build`"
}

func (p *plan) checkSecrets(o Options, name string, system environment.System) *fault {
	for _, variable := range system.Auth.Secrets() {
		if o.getenv(variable) != "" {
			continue
		}
		if system.Testbed == nil {
			return usage("%s is not set; environments/%s.json takes a secret of systems.%s.auth from it",
				variable, p.env.Name, name)
		}
		bed, err := check.Testbed(o.Root, system.Testbed.Name)
		if err != nil {
			return usage("testbeds/%s.toml: %v", system.Testbed.Name, err)
		}
		if _, ok := bed.Outputs[variable]; !ok {
			return usage("environments/%s.json takes a secret of systems.%s.auth from %s, which is neither an output of testbeds/%s.toml nor set",
				p.env.Name, name, variable, system.Testbed.Name)
		}
	}
	return nil
}

// secrets returns the values of the secrets that the environment names.
func (p *plan) secrets(o Options) []string {
	var values []string
	for _, system := range p.env.Systems {
		for _, variable := range system.Auth.Secrets() {
			if v := o.getenv(variable); v != "" {
				values = append(values, v)
			}
		}
	}
	return values
}
