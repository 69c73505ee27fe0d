// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exitcode"
)

// needsTimeout bounds a `sidecar testbed needs`, which only reads files.
const needsTimeout = 10 * time.Second

// Needs prints the targets of make that the plan's testbeds take, one a line, and returns the exit code. Scenarios, as
// `k6 x compare` takes them, come in place of Options.Only; each of testbeds in place of Options.Testbed.
func Needs(o Options, scenarios, testbeds []string) int {
	targets, f := needs(o, scenarios, testbeds)
	if f != nil {
		fmt.Fprintln(o.Stderr, f.message)
		return f.code
	}
	for _, target := range targets {
		fmt.Fprintln(o.Stdout, target)
	}
	return exitcode.Pass
}

func needs(o Options, scenarios, testbeds []string) ([]string, *fault) {
	chosen, f := chosenFor(o, scenarios)
	if f != nil {
		return nil, f
	}
	if len(testbeds) == 0 {
		testbeds = []string{""}
	}
	found := map[string]bool{}
	for _, spec := range testbeds {
		env, problems := check.Environment(o.Root, o.Env)
		if len(problems) > 0 {
			return nil, usage("%s", strings.Join(problems, "\n"))
		}
		o.Testbed = spec
		if f := (&plan{env: env}).addNeeds(o, chosen, found); f != nil {
			return nil, f
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func chosenFor(o Options, scenarios []string) ([]Scenario, *fault) {
	if len(scenarios) > 0 {
		return named(o.Root, scenarios)
	}
	all, err := Scenarios(o.Root)
	if err != nil {
		return nil, usage("%v", err)
	}
	chosen, err := Select(all, o.Only)
	if err != nil {
		return nil, usage("%v", err)
	}
	return chosen, nil
}

func (p *plan) addNeeds(o Options, chosen []Scenario, found map[string]bool) *fault {
	if f := p.replaceTestbed(o, chosen); f != nil {
		return f
	}
	if f := p.split(o, chosen); f != nil {
		return f
	}
	asked := map[string]bool{}
	for _, s := range p.scenarios {
		ref := p.env.Systems[s.System].TestbedOf(s.Name)
		if ref == nil {
			continue
		}
		arguments := needsArguments(o.Root, *ref, s.needs().Chooses)
		if key := strings.Join(arguments, "\x00"); asked[key] {
			continue
		} else {
			asked[key] = true
		}
		targets, err := askSidecar(o.Sidecar, arguments)
		if err != nil {
			return usage("%v", err)
		}
		for _, target := range targets {
			found[target] = true
		}
	}
	return nil
}

// needsArguments are those of `sidecar testbed needs`; each of any takes each of its values.
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

func askSidecar(program string, arguments []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), needsTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(string(exit.Stderr)), "sidecar: "))
	case err != nil:
		return nil, fmt.Errorf("bin/sidecar cannot tell what is needed: %w; run `make bin/sidecar`", err)
	}
	return strings.Fields(string(out)), nil
}
