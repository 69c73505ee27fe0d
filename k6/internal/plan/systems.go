// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/connect"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/seq"
)

// checkSystems checks the needs of the chosen scenarios' systems: testbeds, secrets, a confirmation for another machine,
// the sidecar.
func (p *Plan) checkSystems(a Asked) *exit.Fault {
	seen := map[string]bool{}
	for _, s := range p.Scenarios {
		if seen[s.System] {
			continue
		}
		seen[s.System] = true
		system := p.Env.Systems[s.System]
		if system.Testbed != nil {
			if variable := environment.URLVariable(s.System); a.Getenv(variable) != "" {
				return exit.BadUsage("%s is set, but the run starts testbeds/%s.toml: unset it, or give ENV=… with the url of a system that is up", variable, system.Testbed.Name)
			}
			if _, f := p.readTestbed(a, system.Testbed.Name); f != nil {
				return f
			}
		}
		if f := p.checkSecrets(a, s.System, system); f != nil {
			return f
		}
		if f := p.checkConfirmed(a, s.System, system); f != nil {
			return f
		}
		if err := connect.Check(system.TLS, filepath.Dir(a.environmentFile())); err != nil {
			return exit.BadUsage("%s: systems.%s.%v", a.shownEnvironment(), s.System, err)
		}
		p.NeedsSidecar = p.NeedsSidecar || s.NeedsSidecar(system)
	}
	info, err := os.Stat(a.Sidecar)
	missing := err != nil || info.IsDir() || info.Mode()&0o111 == 0
	if p.NeedsSidecar && missing {
		return exit.BadSetup("%s", a.sidecarMissing())
	}
	// Without a testbed the sidecar still measures the generator.
	p.NeedsSidecar = !missing
	if missing {
		p.LeftOut = append(p.LeftOut, "CPU and memory are not measured: "+a.sidecarMissing())
	}
	return nil
}

// checkConfirmed rejects load on another machine, or on a database there, unless CONFIRM_REMOTE names the host.
func (p *Plan) checkConfirmed(a Asked, name string, system environment.System) *exit.Fault {
	database, f := p.databaseHost(a, name, system)
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
		case slices.Contains(a.Confirmed(), host):
		case slices.Contains(loaded, host):
			return exit.BadUsage("%s is not this machine; to put load on it, which you may do only with its owner's consent, set CONFIRM_REMOTE=%s",
				host, strings.Join(hosts, ","))
		default:
			return exit.BadUsage("%s, where the database of %s is, is not this machine; to write into it, which you may do only with its owner's consent, set CONFIRM_REMOTE=%s",
				host, system.DatabaseEnv, strings.Join(hosts, ","))
		}
	}
	return nil
}

// databaseHost returns the host of the database that the caller's environment names, "" without a database or if the
// host is this machine.
func (p *Plan) databaseHost(a Asked, name string, system environment.System) (string, *exit.Fault) {
	value := a.Getenv(system.DatabaseEnv)
	if _, isSet := p.outputs(system)[system.DatabaseEnv]; isSet || value == "" {
		return "", nil // the testbed sets the database's URL, whatever the caller has
	}
	database, ok := environment.ParseDatabaseURL(value)
	if !ok || !database.Usable() {
		return "", exit.BadUsage("%s does not hold the URL of a database that is known here; give mysql://USER:PASSWORD@HOST:PORT/NAME (an @ of the password as %%40) or sqlite:////ABSOLUTE/FILE",
			system.DatabaseEnv)
	}
	return database.RemoteHost(), nil
}

// Confirmed lists the remote hosts that the caller may put under load.
func (a Asked) Confirmed() []string {
	return slices.DeleteFunc(strings.Split(a.Getenv("CONFIRM_REMOTE"), ","), func(host string) bool { return host == "" })
}

func (a Asked) sidecarMissing() string {
	name, err := filepath.Rel(a.Root, a.Sidecar)
	if err != nil {
		name = a.Sidecar
	}
	return name + " is missing; run `make build`"
}

// NeedsSidecar reports whether the scenario's system cannot be tested without the sidecar.
func (s Scenario) NeedsSidecar(system environment.System) bool {
	return system.Testbed != nil || s.Probed
}

func (p *Plan) checkSecrets(a Asked, name string, system environment.System) *exit.Fault {
	for _, variable := range system.Auth.Secrets() {
		if value := a.Getenv(variable); value != "" {
			if f := p.checkEnd(variable, value); f != nil {
				return f
			}
			continue
		}
		if system.Testbed == nil {
			return exit.BadUsage("%s is not set; %s takes a secret of systems.%s.auth from it",
				variable, a.shownEnvironment(), name)
		}
		if _, ok := p.outputs(system)[variable]; !ok {
			return exit.BadUsage("%s takes a secret of systems.%s.auth from %s, which is neither an output of testbeds/%s.toml nor set",
				a.shownEnvironment(), name, variable, system.Testbed.Name)
		}
	}
	return p.checkDatabase(a, name, system)
}

// checkEnd rejects a secret that ends in a line break, as in a file that was read whole, and warns about a final space.
func (p *Plan) checkEnd(variable, value string) *exit.Fault {
	ending := environment.EndsBadly(value)
	switch {
	case ending.Never:
		return exit.BadUsage("%s ends in %s, which is no part of a secret: set it without, such as by %s=$(tr -d '\\r\\n' <FILE)", variable, ending.What, variable)
	case ending.What != "":
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("%s ends in %s: set it without, unless that is part of the secret", variable, ending.What))
	}
	return nil
}

// checkDatabase rejects a testbed that does not set the variable for the database's URL; a system that is up may lack
// it.
func (p *Plan) checkDatabase(a Asked, name string, system environment.System) *exit.Fault {
	variable := system.DatabaseEnv
	if variable == "" {
		return nil
	}
	if value := a.Getenv(variable); value != "" {
		return p.checkEnd(variable, value)
	}
	if system.Testbed == nil {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf(
			"%s is not set: nothing of systems.%s is seeded or checked by SQL", variable, name))
		return nil
	}
	outputs := p.outputs(system)
	if _, ok := outputs[variable]; !ok {
		return exit.BadUsage("%s takes systems.%s.database_env from %s, which is neither an output of testbeds/%s.toml nor set%s",
			a.shownEnvironment(), name, variable, system.Testbed.Name, closest.Hint(variable, slices.Sorted(maps.Keys(outputs))))
	}
	return nil
}

// Secrets returns the values of the secrets that the environment names, and of the secrets for streaming.
func (p *Plan) Secrets(a Asked) []string {
	return seq.Given(seq.Map(append(influx.SecretVariables(), p.Env.Secrets()...), a.Getenv))
}

// Public are the names in results and messages, which redaction leaves alone.
func (p *Plan) Public() []string {
	names := []string{p.Env.Name}
	for name, system := range p.Env.Systems {
		names = append(names, name)
		if system.Testbed != nil {
			names = append(names, system.Testbed.Name)
		}
	}
	for _, s := range p.Scenarios {
		names = append(names, s.System, s.Name)
	}
	return names
}
