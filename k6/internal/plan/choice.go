// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testbed"
)

// choose takes the caller's testbed or URL in place of the environment's, and the scenarios that can run then.
func (p *Plan) choose(a Asked, chosen []Scenario) *exit.Fault {
	for _, step := range []func(Asked, []Scenario) *exit.Fault{p.replaceTestbed, p.replaceURL, p.split} {
		if f := step(a, chosen); f != nil {
			return f
		}
	}
	return nil
}

// replaceTestbed puts the caller's testbed into the environment, for the system that it starts. If the environment names
// the same testbed, its values remain, and the caller's values take precedence.
func (p *Plan) replaceTestbed(a Asked, chosen []Scenario) *exit.Fault {
	if a.Testbed == "" {
		return nil
	}
	ref, bed, err := check.TestbedSpec(a.Root, a.Testbed)
	if err != nil {
		return exit.BadUsage("%v", err)
	}
	if _, ok := p.Env.Systems[bed.System]; !ok {
		return exit.BadUsage("testbeds/%s.toml starts the system %s, which %s does not have (it has: %s)",
			ref.Name, bed.System, a.shownEnvironment(), strings.Join(p.Env.Names(), ", "))
	}
	if f := checkOf(bed, chosen); f != nil {
		return f
	}
	values := withEntryValues(p.Env.Systems[bed.System], ref)
	for _, name := range bed.Names() {
		if values[name] == nil && bed.Variables[name].Default == nil {
			return exit.BadUsage("testbeds/%s.toml has no default for the variable %s: give %s:%s=…", ref.Name, name, ref.Name, name)
		}
	}
	for name, system := range p.Env.Systems {
		if bed.Starts(name) {
			own := ref
			own.Variables = withEntryValues(system, ref)
			system.Testbed, system.Testbeds, system.URL = &own, nil, ""
			p.Env.Systems[name] = system
		}
	}
	return nil
}

// withEntryValues merges a testbed's values with the values that a system's entry has for the same testbed.
func withEntryValues(system environment.System, ref environment.TestbedRef) map[string]any {
	known := slices.Collect(maps.Values(system.Testbeds))
	if system.Testbed != nil {
		known = append(known, *system.Testbed)
	}
	for _, own := range known {
		if own.Name == ref.Name {
			variables := map[string]any{}
			maps.Copy(variables, own.Variables)
			maps.Copy(variables, ref.Variables)
			ref.Variables = variables
		}
	}
	return ref.Variables
}

// split keeps the scenarios that can run, and notes the others as left out. A scenario needs a system in the environment,
// a testbed if it cannot use a system that is up already, and a testbed that suits it. split reads those testbeds.
func (p *Plan) split(a Asked, chosen []Scenario) *exit.Fault {
	missing, unsuited := map[string]int{}, map[string][]string{}
	for _, s := range chosen {
		system, ok := p.Env.Systems[s.System]
		ref := system.TestbedOf(s.Name)
		switch {
		case !ok:
			missing[s.System]++
			continue
		case ref == nil && s.its.Testbed != "":
			p.LeftOut = append(p.LeftOut, fmt.Sprintf(
				"%s is left out: it starts a testbed again and again, and %s has none for %s; give TESTBED=…",
				s, a.shownEnvironment(), s.System))
			continue
		case ref != nil:
			bed, f := p.readTestbed(a, ref.Name)
			if f != nil {
				return f
			}
			if !s.Suits(bed) {
				unsuited[ref.Name] = append(unsuited[ref.Name], s.String())
				continue
			}
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	for _, name := range slices.Sorted(maps.Keys(unsuited)) {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("testbeds/%s.toml is not for %s: left out", name, strings.Join(unsuited[name], ", ")))
	}
	for _, s := range chosen {
		if n := missing[s.System]; n > 0 {
			p.LeftOut = append(p.LeftOut, fmt.Sprintf(
				"%s has no system %s: %d of its scenarios left out (it has: %s)",
				a.shownEnvironment(), s.System, n, strings.Join(p.Env.Names(), ", ")))
			delete(missing, s.System)
		}
	}
	return nil
}

// readTestbed returns what a testbed declares; it reads each testbed once.
func (p *Plan) readTestbed(a Asked, name string) (testbed.Testbed, *exit.Fault) {
	if bed, ok := p.beds[name]; ok {
		return bed, nil
	}
	bed, err := check.Testbed(a.Root, name)
	if err != nil {
		return bed, exit.BadUsage("testbeds/%s.toml: %v", name, err)
	}
	if p.beds == nil {
		p.beds = map[string]testbed.Testbed{}
	}
	p.beds[name] = bed
	return bed, nil
}

// outputs are the outputs of a system's testbed, nil if the system is up already.
func (p *Plan) outputs(system environment.System) map[string]string {
	if system.Testbed == nil {
		return nil
	}
	return p.beds[system.Testbed.Name].Outputs
}

// Subject is the system of a scenario, and the testbed that starts it, "" if it is up already.
type Subject struct{ system, testbed string }

func (p *Plan) Subject(s Scenario) Subject {
	if ref := p.Env.Systems[s.System].TestbedOf(s.Name); ref != nil {
		return Subject{s.System, ref.Name}
	}
	return Subject{system: s.System}
}

// Bed is the declaration of a scenario's testbed, the zero value without a testbed.
func (p *Plan) Bed(s Scenario) testbed.Testbed {
	if ref := p.Env.Systems[s.System].TestbedOf(s.Name); ref != nil {
		return p.beds[ref.Name]
	}
	return testbed.Testbed{}
}
