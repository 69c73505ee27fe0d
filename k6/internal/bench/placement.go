// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/environment"
)

// placement says which CPUs probe, echo and system run on: lists such as "0-1,3", "" where they are
// not pinned. The zero value is that of a system which k6 itself loads.
type placement struct {
	name                string
	probe, echo, system string
}

// processCPUs lists the CPUs that this process may use, which containers and taskset narrow.
func processCPUs() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// resolve returns the placement of a scenario: what PLACEMENT says, else the environment.
func (p *plan) resolve(o Options, s Scenario, cpus []int) (placement, *fault) {
	if !environment.Probed(s.System) {
		return placement{}, nil
	}
	system := p.env.Systems[s.System]
	name := cmp.Or(o.getenv("PLACEMENT"), system.Placement.Of(s.Name))
	placed, f := place(name, cpus)
	if f != nil {
		f.message = s.String() + ": " + f.message
		return placed, f
	}
	ref := system.TestbedOf(s.Name)
	if ref == nil {
		placed.system = "" // its processes are not ours to pin
		return placed, nil
	}
	given, ok := ref.Variables[cpusVariable].(string)
	switch _, declared := p.bed(s).Variables[cpusVariable]; {
	case ok:
		placed.system = given
	case !declared && placed.system != "":
		placed.system = ""
		line := fmt.Sprintf("testbeds/%s.toml declares no variable %s: its processes are not pinned", ref.Name, cpusVariable)
		if !slices.Contains(p.leftOut, line) {
			p.leftOut = append(p.leftOut, line)
		}
	}
	return placed, nil
}

// cpusVariable is what testbeds call the variable that pins their processes.
const cpusVariable = "cpus"

// testbed returns a scenario's testbed, told its CPUs where it declares cpus; nil where the system is
// up already.
func (p *plan) testbed(s Scenario) *environment.TestbedRef {
	bed := p.env.Systems[s.System].TestbedOf(s.Name)
	placed := p.placements[s]
	if _, declared := p.bed(s).Variables[cpusVariable]; bed == nil || !declared || placed.name == "" {
		return bed
	}
	variables := maps.Clone(bed.Variables)
	if variables == nil {
		variables = map[string]any{}
	}
	variables[cpusVariable] = placed.system
	return &environment.TestbedRef{Name: bed.Name, Variables: variables}
}

// variables are what k6 is told of the placement; none for a system that it loads itself.
func (p placement) variables() map[string]string {
	if p.name == "" {
		return nil
	}
	return map[string]string{"PLACEMENT": p.name, "PROBE_CPUS": p.probe, "ECHO_CPUS": p.echo, "SYSTEM_CPUS": p.system}
}

// place turns a placement's name into CPU lists. From four CPUs on, a split has one for the echo too.
func place(name string, cpus []int) (placement, *fault) {
	known := environment.Placements()
	if !slices.Contains(known, name) {
		return placement{}, usage("unknown placement %s%s; there are: %s", name, closest.Hint(name, known), strings.Join(known, ", "))
	}
	p := placement{name: name}
	n := len(cpus)
	switch {
	case name == "free":
	case n == 0:
		return p, setup("placement %s: cannot tell which CPUs there are; set PLACEMENT=free", name)
	case name == "shared":
		last := cpuList(cpus[n-1:])
		p.probe, p.echo, p.system = last, last, last
	case n < 2:
		return p, setup("placement split needs 2 CPUs, this process may use %d; set PLACEMENT=shared", n)
	case n < 4:
		last := cpuList(cpus[n-1:])
		p.probe, p.echo, p.system = last, last, cpuList(cpus[:n-1])
	default:
		p.probe, p.echo, p.system = cpuList(cpus[n-1:]), cpuList(cpus[n-2:n-1]), cpuList(cpus[:n-2])
	}
	return p, nil
}

// cpuList writes CPUs in their order, as taskset takes them.
func cpuList(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j > i {
			part += "-" + strconv.Itoa(cpus[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
