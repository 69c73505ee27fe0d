// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"strings"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

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
			return exit.BadUsage("LINK=%s: environments/%s.json names a far end for %s, but with a link the far end must be the link's own: remove systems.%s.target", own, p.Env.Name, s, s.System)
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

// tryLink makes the sidecar make a link and remove it.
func (a Asked) tryLink(text string) *exit.Fault {
	return a.trySidecar("LINK="+text, "link", "check", "--root", a.Root, "--", text)
}
