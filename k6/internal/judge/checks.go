// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"fmt"
	"strings"

	"windtunnel/k6/internal/result"
)

// Names of checks that decide the verdict.
const (
	checkComplete  = "complete"
	checkProcesses = "processes"
)

func check(name, kind string, ok bool, detail string) *result.Validity {
	return &result.Validity{Check: name, Kind: kind, OK: &ok, Detail: detail}
}

// checksOf returns the validity checks: whether a run's figures can be trusted, not whether they are good.
// docs/explanation/verdicts.md explains each check and its bound.
func checksOf(e Evidence, m Metrics, rows []result.Operation, thresholds []result.Threshold, controls []result.Control) []result.Validity {
	var checks []result.Validity
	add := func(made ...*result.Validity) {
		for _, c := range made {
			if c != nil {
				checks = append(checks, *c)
			}
		}
	}
	if e.Steps == nil {
		add(completeness(e.Plan, e.Counts.Iterations, e.LoadS))
	}
	add(e.Link.checks()...)
	neighbours := placementLoad(e.Usage, e.Placement)
	add(e.generatorCPUs(len(controls) > 0, neighbours != nil)...)
	add(limitChecks(e.Usage.orNothing().Limits)...)
	for _, control := range controls {
		add(e.headroomOf(control, rows))
	}
	add(droppedIterations(e.Counts.Dropped), neighbours)
	add(processesAlive(e.Usage)...)
	silent, _ := m.Values("target_silent_since_ms", nil)
	add(targetAnswers(silent["value"], e.SilentMS), generatorLimits(rows), controlsHold(controls, thresholds))
	if probes, recorded := m.Values("probes_cut", nil); recorded {
		add(probesWhole(probes["count"]))
	}
	add(roundsFinished(countOf(m, "rounds_begun"), e.Counts.Iterations))
	for _, row := range rows {
		add(clockSane(row))
	}
	for _, row := range rows {
		if row.Requests > 0 || !e.find(row.Name).Optional {
			add(sampleCount(row, thresholds))
		}
	}
	for _, row := range rows {
		add(tripsClear(m, e.find(row.Name)))
	}
	for _, row := range rows {
		add(generatorLateness(row, of(m, "operation_lateness_ms", row.Name), thresholds))
	}
	return checks
}

// lastedAsPlanned reports whether the load lasted as long as planned, within 0.1 %.
func lastedAsPlanned(planned, seconds float64) bool { return seconds >= planned*0.999 }

func completeness(plan Plan, done, seconds float64) *result.Validity {
	ok, detail := lastedAsPlanned(plan.Seconds, seconds), fmt.Sprintf("%.1f s of %.1f s", seconds, plan.Seconds)
	if plan.Iterations != nil {
		ok, detail = done >= *plan.Iterations, fmt.Sprintf("%.0f of %.0f iterations", done, *plan.Iterations)
	}
	if !ok {
		detail += ": ended early"
	}
	return check(checkComplete, "interrupt", ok, detail)
}

func droppedIterations(dropped float64) *result.Validity {
	detail := "none"
	if dropped > 0 {
		detail = fmt.Sprintf("%.0f iterations never started: no virtual user (VU) was free", dropped)
	}
	return check("dropped iterations", "dropped", dropped == 0, detail)
}

// roundsFinished checks that iterations reached their end, where they report errors such as lost messages.
func roundsFinished(begun, done float64) *result.Validity {
	if begun == 0 {
		return nil
	}
	lost := max(0, begun-done)
	detail := "all rounds ended"
	if lost > 0 {
		detail = fmt.Sprintf("%.0f of %.0f rounds were interrupted and have no result", lost, begun)
	}
	return check("rounds", "rounds", lost == 0, detail)
}

// probesWhole checks that no probe ended before it had measured everything.
func probesWhole(lost float64) *result.Validity {
	detail := "all ran to completion"
	if lost > 0 {
		detail = fmt.Sprintf("%.0f ended early: the log says why", lost)
	}
	return check("probes", "probe", lost == 0, detail)
}

// clockSane checks that no operation ended before its start: then the clock of WebSocket frames jumped.
func clockSane(row result.Operation) *result.Validity {
	if row.LatencyMS == nil || row.LatencyMS.Min >= 0 {
		return nil
	}
	return check("clock: "+row.Name, "clock", false, fmt.Sprintf("a latency of %.3f ms: the wall clock jumped", row.LatencyMS.Min))
}

// sampleCount checks the number of samples for each percentile. A percentile with too few samples is not shown,
// and its threshold cannot be judged.
func sampleCount(row result.Operation, thresholds []result.Threshold) *result.Validity {
	var samples int64
	if row.LatencyMS != nil {
		samples = row.LatencyMS.Count
	}
	var weak []string
	for _, line := range thresholds {
		if line.Operation != row.Name || line.Unit != "ms" {
			continue
		}
		if share, ok := shareOf(line.Expression); ok && !Carries(share, samples) {
			weak = append(weak, aggregateOf(aggregateIn(line.Expression)))
		}
	}
	name := "samples: " + row.Name
	if len(weak) > 0 {
		return check(name, "samples", false, fmt.Sprintf("%d samples are too few for a threshold on %s", samples, strings.Join(weak, ", ")))
	}
	return check(name, "samples", samples > 0, fmt.Sprintf("%d samples", samples))
}

// processesAlive checks the processes of the system under test and, separately, the testbed's other processes, such as a
// database.
func processesAlive(usage *Usage) []*result.Validity {
	if usage == nil {
		return nil
	}
	ended := func(name, role string) *result.Validity {
		var all []string
		for _, p := range usage.Processes {
			if p.Role != role || p.Exit == nil {
				continue
			}
			moment := "in mid-run"
			if p.ExitAfterS != nil {
				moment = fmt.Sprintf("%.1f s after the start", *p.ExitAfterS)
			}
			all = append(all, fmt.Sprintf("%s ended %s (%s)", p.Name, moment, *p.Exit))
		}
		if len(all) == 0 {
			return nil
		}
		return check(name, "process", false, strings.Join(all, ", "))
	}
	system, support := ended(checkProcesses, "system"), ended("support processes", "support")
	if system == nil && support == nil {
		return []*result.Validity{check(checkProcesses, "process", true, "all alive to the end")}
	}
	return []*result.Validity{system, support}
}

// targetAnswers checks that the run was not stopped because the target stopped answering; sinceMS is 0 for a run that
// was not.
func targetAnswers(sinceMS, silentMS float64) *result.Validity {
	if sinceMS == 0 {
		return nil
	}
	return check("target", "system", false, fmt.Sprintf(
		"the system answered nothing for %.0f s, from second %.1f of the run: the run was stopped", silentMS/1000, sinceMS/1000))
}

// checkThrottling is the check of a quota that others set for the generator.
const checkThrottling = "generator throttling"

// limitChecks returns the checks of limits of CPU and memory. A system that the kernel killed for memory has failed. A
// throttled generator is slower than the machine, so its figures say nothing about the system.
func limitChecks(limits *result.Limits) (checks []*result.Validity) {
	if limits == nil {
		return nil
	}
	if s := limits.System; s != nil && s.MemoryBytes != nil {
		c := check("memory limit", "system", true, s.Killing()+" at "+s.Text)
		if s.Killed == nil {
			c.OK = nil
		} else {
			*c.OK = *s.Killed == 0
		}
		checks = append(checks, c)
	}
	if g := limits.Given; g != nil && g.Killed != nil && *g.Killed > 0 {
		checks = append(checks, check("memory limit", "system", false, limits.Remark()))
	}
	if g := limits.Generator; g != nil && (g.CPUPercent != nil || g.ThrottledPeriods > 0) {
		checks = append(checks, check(checkThrottling, result.Generator, g.ThrottledPeriods == 0,
			fmt.Sprintf("k6 and the sidecar have %s from outside: %s", g.Quota(), g.Words())))
	}
	return checks
}

// worstLimits has the most throttled generator, and the system with most kills. A runner sees only the kills before its window
// closes.
func worstLimits(a, b *result.Limits) *result.Limits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	worst := *a
	if b.Generator != nil && (a.Generator == nil || b.Generator.ThrottledPeriods > a.Generator.ThrottledPeriods) {
		worst.Generator = b.Generator
	}
	if b.System != nil && (a.System == nil || b.System.Killed != nil && (a.System.Killed == nil || *b.System.Killed > *a.System.Killed)) {
		worst.System = b.System
	}
	if b.Given != nil && (a.Given == nil || b.Given.IsWorse(*a.Given)) {
		worst.Given = b.Given
	}
	return &worst
}
