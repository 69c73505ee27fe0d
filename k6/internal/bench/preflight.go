// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/testbed"
	"windtunnel/k6/internal/variables"
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
	env        environment.Environment
	scenarios  []Scenario
	leftOut    []string                   // lines about what is left out: scenarios that the environment has no system for, measurements, variables of k6's
	needs      bool                       // the sidecar, for a testbed or for probes
	beds       map[string]testbed.Testbed // by name, what the testbeds of the scenarios declare
	placements map[Scenario]placement
}

// preflight checks all that can be checked before anything starts.
func preflight(o Options) (plan, *fault) {
	var p plan
	if profiles := schema.Profiles(); !slices.Contains(profiles, o.Profile) {
		return p, usage("unknown profile %s%s; there are: %s",
			o.Profile, closest.Hint(o.Profile, profiles), strings.Join(profiles, ", "))
	}
	if _, err := influx.FromEnvironment(o.getenv); err != nil {
		return p, usage("%v", err)
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
	if line := variables.Misspelt(o.Environ); line != "" {
		return p, usage("%s", line)
	}
	p.leftOut = append(p.leftOut, variables.Near(o.Environ, secretsOf(env))...)
	if line := variables.Unread(o.Environ, namesOf(chosen)); line != "" {
		p.leftOut = append(p.leftOut, line)
	}
	if line := o.foreignVariables(); line != "" {
		p.leftOut = append(p.leftOut, line)
	}
	if f := p.replaceTestbed(o, chosen); f != nil {
		return p, f
	}
	if f := p.split(o, chosen); f != nil {
		return p, f
	}
	if len(p.scenarios) == 0 {
		return p, usage("%s", strings.Join(append(p.leftOut, "nothing is left to run"), "\n"))
	}
	if f := p.checkSystems(o); f != nil {
		return p, f
	}
	if f := o.checkPrograms(p.scenarios); f != nil {
		return p, f
	}
	if f := o.checkDashboard(); f != nil {
		return p, f
	}
	cpus := processCPUs()
	p.placements = map[Scenario]placement{}
	for _, s := range p.scenarios {
		placed, f := p.resolve(o, s, cpus)
		if f != nil {
			return p, f
		}
		p.placements[s] = placed
	}
	return p, o.checkValues(p.scenarios)
}

// checkValues refuses values that a script would refuse in the same words, once it is started.
func (o Options) checkValues(scenarios []Scenario) *fault {
	told := append(slices.Clone(o.Environ), "PROFILE="+o.Profile)
	if lines := variables.WrongValues(told, namesOf(scenarios)); len(lines) > 0 {
		return usage("%s", strings.Join(lines, "\n"))
	}
	return nil
}

// replaceTestbed puts the testbed that the caller names into the environment, for the system that it
// starts. Where the environment names the same one, the values that it gives stay beside the caller's.
func (p *plan) replaceTestbed(o Options, chosen []Scenario) *fault {
	if o.Testbed == "" {
		return nil
	}
	ref, bed, err := check.TestbedSpec(o.Root, o.Testbed)
	if err != nil {
		return usage("%v", err)
	}
	system, ok := p.env.Systems[bed.System]
	if !ok {
		return usage("testbeds/%s.toml starts the system %s, which environments/%s.json does not have (it has: %s)",
			ref.Name, bed.System, p.env.Name, strings.Join(p.env.Names(), ", "))
	}
	if f := checkOf(bed, chosen); f != nil {
		return f
	}
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
	for _, name := range bed.Names() {
		if _, given := ref.Variables[name]; !given && bed.Variables[name].Default == nil {
			return usage("testbeds/%s.toml has no default for the variable %s: give %s:%s=…", ref.Name, name, ref.Name, name)
		}
	}
	system.Testbed, system.Testbeds, system.URL = &ref, nil, ""
	p.env.Systems[bed.System] = system
	return nil
}

// split keeps the scenarios whose system the environment has, which need no testbed where it has none, and
// which the testbed that they would run on is for. It reads those testbeds.
func (p *plan) split(o Options, chosen []Scenario) *fault {
	missing, unsuited := map[string]int{}, map[string][]string{}
	for _, s := range chosen {
		system, ok := p.env.Systems[s.System]
		ref := system.TestbedOf(s.Name)
		switch {
		case !ok:
			missing[s.System]++
			continue
		case ref == nil && s.needs().Testbed != "":
			p.leftOut = append(p.leftOut, fmt.Sprintf(
				"%s is left out: it starts a testbed again and again, and environments/%s.json has none for %s; give TESTBED=…",
				s, p.env.Name, s.System))
			continue
		case ref != nil:
			bed, f := p.readTestbed(o, ref.Name)
			if f != nil {
				return f
			}
			if !s.Suits(bed) {
				unsuited[ref.Name] = append(unsuited[ref.Name], s.String())
				continue
			}
		}
		p.scenarios = append(p.scenarios, s)
	}
	for _, name := range slices.Sorted(maps.Keys(unsuited)) {
		p.leftOut = append(p.leftOut, fmt.Sprintf("testbeds/%s.toml is not for %s: left out", name, strings.Join(unsuited[name], ", ")))
	}
	for _, s := range chosen {
		if n := missing[s.System]; n > 0 {
			p.leftOut = append(p.leftOut, fmt.Sprintf(
				"environments/%s.json has no system %s: %d of its scenarios left out (it has: %s)",
				p.env.Name, s.System, n, strings.Join(p.env.Names(), ", ")))
			delete(missing, s.System)
		}
	}
	return nil
}

// checkSystems checks what the systems of the chosen scenarios need: testbeds, secrets, a confirmation for
// another machine, the sidecar.
func (p *plan) checkSystems(o Options) *fault {
	seen := map[string]bool{}
	for _, s := range p.scenarios {
		if seen[s.System] {
			continue
		}
		seen[s.System] = true
		system := p.env.Systems[s.System]
		if system.Testbed != nil {
			if _, f := p.readTestbed(o, system.Testbed.Name); f != nil {
				return f
			}
		}
		if f := p.checkSecrets(o, s.System, system); f != nil {
			return f
		}
		if f := p.checkConfirmed(o, s.System, system); f != nil {
			return f
		}
		p.needs = p.needs || needsSidecar(s.System, system)
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

// checkConfirmed refuses load on another machine, and a database there, that CONFIRM_REMOTE does not name.
func (p *plan) checkConfirmed(o Options, name string, system environment.System) *fault {
	database, f := p.databaseHost(o, name, system)
	if f != nil {
		return f
	}
	loaded := system.RemoteHosts()
	hosts := loaded
	if database != "" && !slices.Contains(loaded, database) {
		hosts = append(hosts, database)
	}
	for _, host := range hosts {
		switch {
		case slices.Contains(o.confirmed(), host):
		case slices.Contains(loaded, host):
			return usage("%s is not this machine; to put load on it, which you may do only with its owner's consent, set CONFIRM_REMOTE=%s",
				host, strings.Join(hosts, ","))
		default:
			return usage("%s, where the database of %s is, is not this machine; to write into it, which you may do only with its owner's consent, set CONFIRM_REMOTE=%s",
				host, system.DatabaseEnv, strings.Join(hosts, ","))
		}
	}
	return nil
}

// databaseHost returns the host of the database that the caller's environment names, "" where there is
// none or it is this machine.
func (p *plan) databaseHost(o Options, name string, system environment.System) (string, *fault) {
	value := o.getenv(system.DatabaseEnv)
	if _, told := p.outputs(system)[system.DatabaseEnv]; told || value == "" {
		return "", nil // a testbed's own comes before the caller's
	}
	database, ok := environment.ParseDatabaseURL(value)
	if !ok || !database.Usable() {
		return "", usage("%s does not hold the URL of a database that is known here; give mysql://USER:PASSWORD@HOST:PORT/NAME (an @ of the password as %%40) or sqlite:////ABSOLUTE/FILE",
			system.DatabaseEnv)
	}
	return database.RemoteHost(), nil
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

// needsSidecar reports whether a system cannot be tested without the sidecar.
func needsSidecar(name string, system environment.System) bool {
	return system.Testbed != nil || environment.Probed(name)
}

// readTestbed returns what a testbed declares, read once.
func (p *plan) readTestbed(o Options, name string) (testbed.Testbed, *fault) {
	if bed, ok := p.beds[name]; ok {
		return bed, nil
	}
	bed, err := check.Testbed(o.Root, name)
	if err != nil {
		return bed, usage("testbeds/%s.toml: %v", name, err)
	}
	if p.beds == nil {
		p.beds = map[string]testbed.Testbed{}
	}
	p.beds[name] = bed
	return bed, nil
}

// outputs are those of a system's testbed, none where it is up already.
func (p *plan) outputs(system environment.System) map[string]string {
	if system.Testbed == nil {
		return nil
	}
	return p.beds[system.Testbed.Name].Outputs
}

// subject is what scenarios are about: a system, and the testbed that starts it, "" where it is up already.
type subject struct{ system, testbed string }

func (p *plan) subject(s Scenario) subject {
	if ref := p.env.Systems[s.System].TestbedOf(s.Name); ref != nil {
		return subject{s.System, ref.Name}
	}
	return subject{system: s.System}
}

// bed is what a scenario's testbed declares, nothing where it has none.
func (p *plan) bed(s Scenario) testbed.Testbed {
	if ref := p.env.Systems[s.System].TestbedOf(s.Name); ref != nil {
		return p.beds[ref.Name]
	}
	return testbed.Testbed{}
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
		if _, ok := p.outputs(system)[variable]; !ok {
			return usage("environments/%s.json takes a secret of systems.%s.auth from %s, which is neither an output of testbeds/%s.toml nor set",
				p.env.Name, name, variable, system.Testbed.Name)
		}
	}
	return p.checkDatabase(o, name, system)
}

// checkDatabase refuses a variable for the database's URL that a testbed does not set; a system that is up
// may do without.
func (p *plan) checkDatabase(o Options, name string, system environment.System) *fault {
	variable := system.DatabaseEnv
	if variable == "" || o.getenv(variable) != "" {
		return nil
	}
	if system.Testbed == nil {
		p.leftOut = append(p.leftOut, fmt.Sprintf(
			"%s is not set: nothing of systems.%s is seeded or checked by SQL", variable, name))
		return nil
	}
	outputs := p.outputs(system)
	if _, ok := outputs[variable]; !ok {
		return usage("environments/%s.json takes systems.%s.database_env from %s, which is neither an output of testbeds/%s.toml nor set%s",
			p.env.Name, name, variable, system.Testbed.Name, closest.Hint(variable, slices.Sorted(maps.Keys(outputs))))
	}
	return nil
}

// secrets returns the values of the secrets that the environment names, and of those to stream with.
func (p *plan) secrets(o Options) []string {
	variables := influx.SecretVariables()
	for _, system := range p.env.Systems {
		variables = append(variables, system.Secrets()...)
	}
	var values []string
	for _, variable := range variables {
		if v := o.getenv(variable); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// namesOf are scenarios as SYSTEM/SCENARIO.
func namesOf(scenarios []Scenario) []string {
	names := make([]string, len(scenarios))
	for i, s := range scenarios {
		names[i] = s.String()
	}
	return names
}

// secretsOf are the variables that an environment names itself.
func secretsOf(env environment.Environment) (names []string) {
	for _, system := range env.Systems {
		names = append(names, system.Secrets()...)
	}
	return names
}
