// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

// Limits are the limits of the systems under test, as the caller wrote them; "" without limits.
func (a Asked) Limits() string { return a.Getenv("LIMITS") }

// checkLimits rejects limits that the sidecar cannot set, and limits of a system that is up already.
func (p *Plan) checkLimits(a Asked) *exit.Fault {
	text := a.Limits()
	if text == "" {
		return nil
	}
	for _, s := range p.Scenarios {
		if p.Env.Systems[s.System].TestbedOf(s.Name) == nil {
			return exit.BadUsage("LIMITS=%s: %s loads a system that is up already, but limits need a system that the run starts: give TESTBED=…", text, s)
		}
	}
	return a.trySidecar("LIMITS="+text, "limits", "--", text)
}

// trySidecar runs a command of the sidecar that checks what this machine can do. about begins the message if there is no
// sidecar that knows the command.
func (a Asked) trySidecar(about string, arguments ...string) *exit.Fault {
	_, refused, err := askSidecar(a.Sidecar, sidecarTimeout, arguments)
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return exit.BadSetup("%s: bin/sidecar cannot check it: %v; run `make bin/sidecar`", about, err)
	}
	return nil
}

// askSidecar runs a command of the sidecar, and returns its output. refused is the sidecar's own line.
func askSidecar(program string, limit time.Duration, arguments []string) (out []byte, refused *exit.Fault, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.WaitDelay = time.Second
	out, err = cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && len(ended.Stderr) > 0 {
		refused = exit.BadSetup("%s", strings.TrimPrefix(strings.TrimSpace(string(ended.Stderr)), "sidecar: "))
		if ended.ExitCode() == exit.Usage {
			refused.Code = exit.Usage
		}
	}
	return out, refused, err
}

// sidecarTimeout bounds a check by the sidecar, which makes a link or a control group and removes it.
const sidecarTimeout = 20 * time.Second

// Link is the link of a scenario, as the caller wrote it; "" without a link, or if the scenario does not support links.
func (a Asked) Link(s Scenario) string {
	if !variables.ReadBy("LINK", s.String()) {
		return ""
	}
	return a.Getenv("LINK")
}

// checkLink rejects a link that the sidecar cannot make, and a link to a proxy that is up already.
func (p *Plan) checkLink(a Asked) *exit.Fault {
	text := ""
	for _, s := range p.Scenarios {
		own := a.Link(s)
		if own == "" {
			continue
		}
		text = own
		system := p.Env.Systems[s.System]
		if system.TestbedOf(s.Name) == nil {
			return exit.BadUsage("LINK=%s: %s tests a proxy that is up already, but a link needs a pair of proxies that the run starts: give TESTBED=…", own, s)
		}
		if system.Target.TCP != "" || system.Target.UDP != "" {
			return exit.BadUsage("LINK=%s: %s names a far end for %s, but with a link the far end must be the link's own: remove systems.%s.target", own, a.shownEnvironment(), s, s.System)
		}
	}
	if text == "" {
		return p.checkOwnLinks(a)
	}
	return a.tryLink(text)
}

// someLink is a link with the fewest requirements: a device and the rights.
const someLink = "rtt:1ms"

// checkOwnLinks leaves out scenarios with separate links if this machine supports no links, and rejects a run that
// has no other scenarios.
func (p *Plan) checkOwnLinks(a Asked) *exit.Fault {
	without := seq.Filter(p.Scenarios, func(s Scenario) bool { return s.OwnLinks })
	others := seq.Filter(p.Scenarios, func(s Scenario) bool { return !s.OwnLinks })
	if len(without) == 0 {
		return nil
	}
	f := a.tryLink(someLink)
	if f == nil || len(others) == 0 {
		return f
	}
	p.Scenarios = others
	systems := seq.Distinct(seq.Map(without, func(s Scenario) string { return s.System }))
	p.LeftOut = append(p.LeftOut, "scenarios of "+strings.Join(systems, ", ")+" are left out: "+f.Message)
	return nil
}

func (a Asked) tryLink(text string) *exit.Fault {
	return a.trySidecar("LINK="+text, "link", "check", "--root", a.Root, "--", text)
}
