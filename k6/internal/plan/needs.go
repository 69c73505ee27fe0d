// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/profiles"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/sides"
	"windtunnel/k6/internal/variables"
)

// needsTimeout bounds a `sidecar testbed needs`, which only reads files.
const needsTimeout = 10 * time.Second

// Needs returns the make targets that the plan's testbeds need, each once. scenarios, in the form of `k6 x compare`,
// replaces Asked.Only; each of testbeds replaces Asked.Testbed in turn.
func Needs(a Asked, scenarios, testbeds []string) ([]string, *exit.Fault) {
	if sides.IsKept(a.Root, a.Getenv(sides.Baseline)) {
		a.Environ = variables.Without(a.Environ, sides.Baseline)
	}
	chosen, f := chosenFor(a, scenarios)
	if f != nil {
		return nil, f
	}
	if len(testbeds) == 0 {
		testbeds = []string{""}
	}
	found := map[string]bool{}
	for i, spec := range testbeds {
		own := a
		own.Testbed = spec
		if spec != "" {
			if own, f = a.Side(spec, letters[min(i, len(letters)-1)], chosen); f != nil {
				return nil, f
			}
		}
		env, problems := check.Environment(own.Root, own.Env)
		if len(problems) > 0 {
			return nil, exit.BadUsage("%s", strings.Join(problems, "\n"))
		}
		if f := (&Plan{Env: env}).addNeeds(own, chosen, found); f != nil {
			return nil, f
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func chosenFor(a Asked, scenarios []string) ([]Scenario, *exit.Fault) {
	if len(scenarios) > 0 {
		return Named(a.Root, scenarios)
	}
	chosen, _, err := a.choose()
	if err != nil {
		return nil, exit.BadUsage("%v", err)
	}
	return chosen, nil
}

func (p *Plan) addNeeds(a Asked, chosen []Scenario, found map[string]bool) *exit.Fault {
	if f := p.choose(a, chosen); f != nil {
		return f
	}
	named, f := a.sidesOf(p.Scenarios)
	if f != nil {
		return f
	}
	answers := map[string][]string{}
	for _, s := range p.Scenarios {
		ref := p.Env.Systems[s.System].TestbedOf(s.Name)
		if ref == nil {
			continue
		}
		for _, arguments := range append(a.enginesNeeds(s, *ref, named.Engines), needsArguments(a.Root, *ref, s.its.Chooses)) {
			key := strings.Join(arguments, "\x00")
			targets, known := answers[key]
			if !known {
				out, refused, err := askSidecar(a.Sidecar, needsTimeout, arguments)
				switch {
				case refused != nil:
					return exit.BadUsage("%s", refused.Message)
				case err != nil:
					return exit.BadUsage("bin/sidecar cannot list the needed programs: %v; run `make bin/sidecar`", err)
				}
				targets = strings.Fields(string(out))
				answers[key] = targets
			}
			for _, target := range targets {
				if !a.isBrief() || !slices.Contains(s.its.NotInSmoke, target) {
					found[target] = true
				}
			}
		}
	}
	return nil
}

// isBrief reports whether a run measures few rows: the profile leaves out further scenarios, and no variable names rows or engines.
func (a Asked) isBrief() bool {
	return profiles.LeavesOutFurther(a.Profile) && a.Getenv("PROTOCOL")+a.Getenv(sides.Candidate)+a.Getenv(sides.Baseline) == ""
}

// enginesNeeds are the arguments of `sidecar testbed needs` for the engines that the caller names. An optional engine is built
// only then.
func (a Asked) enginesNeeds(s Scenario, ref environment.TestbedRef, engines []string) (all [][]string) {
	if !s.hasSides() {
		return nil
	}
	others := seq.Filter(s.its.Chooses, func(name string) bool { return name != engine })
	for _, name := range engines {
		own := ref
		own.Variables = maps.Clone(ref.Variables)
		own.Variables[engine] = name
		all = append(all, needsArguments(a.Root, own, others))
	}
	return all
}

// needsArguments are the arguments of `sidecar testbed needs`; each variable in any takes each of its values.
func needsArguments(root string, ref environment.TestbedRef, any []string) []string {
	arguments := []string{"testbed", "needs", "--root", root}
	for _, name := range slices.Sorted(maps.Keys(ref.Variables)) {
		if !slices.Contains(any, name) {
			arguments = append(arguments, "--var", fmt.Sprintf("%s=%v", name, ref.Variables[name]))
		}
	}
	for _, name := range any {
		arguments = append(arguments, "--any", name)
	}
	return append(arguments, "--", ref.Name)
}
