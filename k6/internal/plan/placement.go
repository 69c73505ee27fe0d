// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
)

// Placement has the CPUs of probe, echo and system: lists such as "0-1,3", "" if not pinned. It is the zero value for a
// system that k6 itself loads.
type Placement struct {
	Name                string
	Probe, Echo, System string
}

// resolve returns the placement of a scenario, from PLACEMENT or else from the environment.
func (p *Plan) resolve(a Asked, s Scenario, allowed []int) (Placement, *exit.Fault) {
	if !s.Probed {
		return Placement{}, nil
	}
	system := p.Env.Systems[s.System]
	name := cmp.Or(a.Getenv("PLACEMENT"), system.Placement.Of(s.Name))
	placed, f := place(name, allowed)
	if f != nil {
		f.Message = s.String() + ": " + f.Message
		return placed, f
	}
	ref := system.TestbedOf(s.Name)
	if ref == nil {
		placed.System = "" // a running system's processes cannot be pinned
		return placed, nil
	}
	given, ok := ref.Variables[cpusVariable].(string)
	switch _, declared := p.Bed(s).Variables[cpusVariable]; {
	case ok:
		placed.System = given
	case !declared && placed.System != "":
		placed.System = ""
		line := fmt.Sprintf("testbeds/%s.toml declares no variable %s: its processes are not pinned", ref.Name, cpusVariable)
		if !slices.Contains(p.LeftOut, line) {
			p.LeftOut = append(p.LeftOut, line)
		}
	}
	return placed, nil
}

// cpusVariable is the testbeds' variable that pins their processes.
const cpusVariable = "cpus"

// Testbed returns a scenario's testbed, with its CPUs if it declares the variable cpus; nil if the system is up already.
func (p *Plan) Testbed(s Scenario) *environment.TestbedRef {
	bed := p.Env.Systems[s.System].TestbedOf(s.Name)
	placed := p.Placements[s.String()]
	if _, declared := p.Bed(s).Variables[cpusVariable]; bed == nil || !declared || placed.Name == "" {
		return bed
	}
	variables := maps.Clone(bed.Variables)
	if variables == nil {
		variables = map[string]any{}
	}
	variables[cpusVariable] = placed.System
	return &environment.TestbedRef{Name: bed.Name, Variables: variables}
}

// Variables are the placement's variables for k6; nil for a system that k6 itself loads.
func (p Placement) Variables() map[string]string {
	if p.Name == "" {
		return nil
	}
	return map[string]string{"PLACEMENT": p.Name, "PROBE_CPUS": p.Probe, "ECHO_CPUS": p.Echo, "SYSTEM_CPUS": p.System}
}

// place converts a placement's name to CPU lists. With four or more CPUs, split has a separate CPU for the echo.
func place(name string, allowed []int) (Placement, *exit.Fault) {
	known := environment.Placements()
	if !slices.Contains(known, name) {
		return Placement{}, exit.BadUsage("unknown placement %s%s; there are: %s", name, closest.Hint(name, known), strings.Join(known, ", "))
	}
	p := Placement{Name: name}
	n := len(allowed)
	switch {
	case name == "free":
	case n == 0:
		return p, exit.BadSetup("placement %s: the CPUs of this process are unknown; set PLACEMENT=free", name)
	case name == "shared":
		last := cpus.List(allowed[n-1:])
		p.Probe, p.Echo, p.System = last, last, last
	case n < 2:
		return p, exit.BadSetup("placement split needs 2 CPUs, this process may use %d; set PLACEMENT=shared", n)
	case n < 4:
		last := cpus.List(allowed[n-1:])
		p.Probe, p.Echo, p.System = last, last, cpus.List(allowed[:n-1])
	default:
		p.Probe, p.Echo, p.System = cpus.List(allowed[n-1:]), cpus.List(allowed[n-2:n-1]), cpus.List(allowed[:n-2])
	}
	return p, nil
}
