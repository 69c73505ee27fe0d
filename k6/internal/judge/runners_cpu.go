// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// ownCPUMostPercent is in percent of the CPUs that a runner may use, by its own figures. Above it the runner is the
// bottleneck.
const ownCPUMostPercent = 90

const checkGeneratorCPU = "generator CPU"

type machine []Recorded

// machinesOf groups the runners by machine; a runner with an unknown machine is a separate group.
func machinesOf(all []Recorded) (machines []machine) {
	groups := seq.Group(counting(all), func(one Recorded) string {
		return cmp.Or(one.Evidence.Runner.Machine, one.name())
	})
	return seq.Map(groups, func(group []Recorded) machine { return group })
}

// check is the name of the check of a machine's generators.
func (m machine) check(machines int) string {
	if machines == 1 {
		return checkGeneratorCPU
	}
	names := seq.Map(m, Recorded.name)
	return checkGeneratorCPU + ": " + strings.Join(names, ", ")
}

// generatorCPUs returns a check for each machine, because all its runners together may be the bottleneck.
func (e Evidence) generatorCPUs(controlled, placed bool) (checks []*result.Validity) {
	if e.runners == nil {
		return []*result.Validity{generatorCPU(e.Usage, controlled, placed)}
	}
	machines := machinesOf(e.runners)
	for _, m := range machines {
		c := generatorCPU(usageOf(m), controlled, placed)
		if c.OK == nil && !slices.ContainsFunc(m, func(one Recorded) bool { return cpuPercentOf(one.Evidence) == nil }) {
			c = m.ownCPU()
		}
		c.Check = m.check(len(machines))
		checks = append(checks, c)
	}
	return checks
}

// ownCPU uses the runners' own figures: a runner may use up its CPUs, or all runners together may use up their machine.
func (m machine) ownCPU() *result.Validity {
	ok, all := true, 0.0
	var details []string
	for _, one := range m {
		own := one.Evidence.Runner
		used := *cpuPercentOf(one.Evidence)
		all += used
		text := fmt.Sprintf("%s used %.1f %% of one core", one.name(), used)
		if own.CPUs != nil && *own.CPUs > 0 {
			text += fmt.Sprintf(", of the allowed %g %%", 100**own.CPUs)
			ok = ok && used <= ownCPUMostPercent**own.CPUs
		}
		details = append(details, text)
	}
	if cpus, busy, seen := m.busiest(); seen {
		details = append(details, fmt.Sprintf("the %d cores of the machine were %.1f %% busy", cpus, busy))
		ok = ok && !tookTheMachine(all, busy, busy*float64(cpus))
	}
	return check(checkGeneratorCPU, result.Generator, ok, strings.Join(details, "; "))
}

// busiest is the number of CPUs of a machine, and their load by the runner that saw the highest load; false if no runner
// measured it.
func (m machine) busiest() (cpus int, percent float64, seen bool) {
	for _, one := range m {
		own := one.Evidence.Runner
		if own.MachineCPUs == 0 || own.MachineBusyPercent == nil {
			continue
		}
		cpus, percent, seen = max(cpus, own.MachineCPUs), max(percent, *own.MachineBusyPercent), true
	}
	return cpus, percent, seen
}

// crowdedRunners are the numbers of the runners on machines where the generators were the bottleneck, with the check's
// detail.
func crowdedRunners(all []Recorded, checks []result.Validity) map[int]string {
	crowded := map[int]string{}
	machines := machinesOf(all)
	for _, m := range machines {
		i := slices.IndexFunc(checks, func(c result.Validity) bool { return c.Check == m.check(len(machines)) })
		if i < 0 || checks[i].OK == nil || *checks[i].OK {
			continue
		}
		for _, one := range m {
			crowded[one.Number] = checks[i].Detail
		}
	}
	return crowded
}

// cpuPercentOf is the CPU share of a runner's process in percent of one core, from the sidecar or its own figures; nil
// if unknown.
func cpuPercentOf(e Evidence) *float64 {
	used, seen := 0.0, false
	if e.Usage != nil {
		for _, p := range e.Usage.Processes {
			if p.Role == "generator" {
				used, seen = used+p.CPUPercent, true
			}
		}
	}
	if !seen {
		if e.Runner == nil || e.Runner.CPUS == nil || e.LoadS <= 0 {
			return nil
		}
		used = 100 * *e.Runner.CPUS / e.LoadS
	}
	return new(rounded(used))
}
