// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

const (
	// leastIdlePercent is in percent of all cores. With less idle time, the generator competes with the measured system.
	leastIdlePercent = 5
	// othersMostPercent is in percent of one core: on a fully used machine, the time that neither the testbed nor the
	// generator used.
	othersMostPercent = 50
	// headroomLeast is how many times faster than the operation a control must be; otherwise the generator may be the
	// limit.
	headroomLeast = 1.2
	// The lateness of an open loop may be this share of the P99 that includes it, or this many ms, whichever is more.
	latenessShare   = 0.5
	latenessFloorMS = 5
	// handlingMostMS bounds late handling. Arrivals are timed at the socket, so late handling does not change the
	// latency, but above this bound the generator is overloaded.
	handlingMostMS = 250
)

// Usage is the usage of processes and CPUs during the measuring window, as the sidecar reports it (sidecar/README.md).
type Usage struct {
	DurationS float64 `json:"duration_s"`
	Host      struct {
		// Nil if the sidecar does not know.
		CPUs        *float64   `json:"cpus"`
		BusyPercent *float64   `json:"busy_percent"`
		ByCPU       []CPUUsage `json:"by_cpu"`
	} `json:"host"`
	Processes []ProcessUsage `json:"processes"`
	Total     struct {
		CPUS          float64 `json:"cpu_s"`
		CPUPercent    float64 `json:"cpu_percent"`
		PeakRSSBytes  int64   `json:"peak_rss_bytes"`
		PeakAnonBytes *int64  `json:"peak_anon_bytes"`
		PeakOpenFiles *int64  `json:"peak_open_files"`
	} `json:"total"`
	Repeated []Part `json:"repeated"`
	// Limits are nil from an older sidecar.
	Limits *result.Limits `json:"limits,omitempty"`
	// Whole is the system's CPU time from the first start to the end of the quiet period; nil without a quiet period.
	Whole *result.WindowCPU `json:"whole,omitempty"`
	// Held is nil if it was not read.
	Held *result.Held `json:"held,omitempty"`
}

// ProcessUsage is the usage of one process. ExitAfterS is its end, in seconds from the opening of the window; nil if it
// lives, or if its end was not seen.
type ProcessUsage struct {
	result.Process
	ExitAfterS *float64 `json:"exit_after_s"`
}

// orNothing returns a window without figures for nil.
func (u *Usage) orNothing() Usage {
	if u == nil {
		return Usage{}
	}
	return *u
}

// windowCPU is the system's CPU time from the first start of the load to the end of the quiet period. It is nil without
// a quiet period, or if no process of the system was sampled.
func (u Usage) windowCPU() *result.WindowCPU {
	if !slices.ContainsFunc(u.Processes, isSystem) {
		return nil
	}
	return u.Whole
}

// processesOf returns the result's rows of processes, with a total for the system.
func processesOf(usage Usage) []result.Process {
	rows := []result.Process{}
	for _, p := range usage.Processes {
		rows = append(rows, p.Process)
	}
	if !slices.ContainsFunc(rows, func(p result.Process) bool { return p.Role == "system" }) {
		return rows
	}
	total := usage.Total
	return append(rows, result.Process{
		Name: "total", Role: "total", CPUS: total.CPUS, CPUPercent: total.CPUPercent, PeakRSSBytes: total.PeakRSSBytes, PeakAnonBytes: total.PeakAnonBytes,
		PeakOpenFiles: total.PeakOpenFiles,
	})
}

// generatorCPU checks whether the generator was the bottleneck: the machine had no idle time, and the generator used the
// larger part. Another program with a large part fails the check too. controlled says that a control, the same load
// without the system, shows what the generator can do. placed says that a separate check covers other programs on the CPUs
// of the placement; programs on other CPUs do not matter then.
func generatorCPU(usage *Usage, controlled, placed bool) *result.Validity {
	const name = checkGeneratorCPU
	open := func(detail string) *result.Validity {
		return &result.Validity{Check: name, Kind: result.Generator, Detail: detail}
	}
	var names []string
	var own, all float64
	if usage != nil {
		for _, p := range usage.Processes {
			all += p.CPUPercent
			if p.Role == "generator" {
				names, own = append(names, p.Name), own+p.CPUPercent
			}
		}
	}
	if len(names) == 0 {
		return open("not measured: the sidecar did not run")
	}
	if usage.DurationS == 0 {
		return open("nothing was measured")
	}
	if usage.Host.CPUs == nil || usage.Host.BusyPercent == nil {
		return open("the number of cores of the machine, or their load, is unknown")
	}
	cpus, busy := *usage.Host.CPUs, *usage.Host.BusyPercent
	known := together(usage.Host.ByCPU)
	others := percent(known.OthersS, known.SpanS) * float64(len(usage.Host.ByCPU))
	full := isFull(busy)
	detail := fmt.Sprintf("%s used %.1f %% of one core; the %.0f cores were %.1f %% busy", strings.Join(names, " and "), own, cpus, busy)
	if full && !placed && others > othersMostPercent {
		return check(name, result.Machine, false, fmt.Sprintf("%s; other programs used %.1f %% of one core", detail, others))
	}
	used := busy * cpus
	if slices.ContainsFunc(usage.Processes, isSystem) {
		// The rest is the other side of a comparison that runs both at once: its generator is no part of this system.
		used = min(used, all+others)
	}
	return check(name, result.Generator, controlled || !tookTheMachine(own, busy, used), detail)
}

func isFull(busyPercent float64) bool { return 100-busyPercent < leastIdlePercent }

// tookTheMachine reports whether a machine had no idle time and the generator used the larger part of what was used. own and
// used are in percent of one core.
func tookTheMachine(own, busyPercent, used float64) bool {
	return isFull(busyPercent) && own > used/2
}

// checkHeadroom is the prefix of a check's name; the operation's name follows.
const checkHeadroom = "generator headroom: "

// headroomOf checks how much faster than the operation the generator could be; nil if the generator cannot be the limit.
func (e Evidence) headroomOf(control result.Control, rows []result.Operation) *result.Validity {
	op := e.find(control.Operation)
	row, _ := find(rows, op.Name)
	switch {
	case op.Saturates && op.AnswersItself:
		return probeHeadroom(row)
	case op.Saturates && e.Link != nil:
		return headroomOverLink(row)
	}
	return headroom(control, op.Saturates)
}

// headroom checks the generator's speed without the system. If an operation sends as much as the system accepts, that
// speed bounds the measurable speed of the system. An operation with one round trip at a time has no such bound.
func headroom(control result.Control, saturates bool) *result.Validity {
	ratio := control.RateRatio
	if !saturates || ratio == nil || *ratio == 0 {
		return nil
	}
	return check(checkHeadroom+control.Operation, result.Generator, *ratio <= 1/headroomLeast, fmt.Sprintf(
		"the direct control is %.2f times as fast; below %.1f times the generator, the far end or loopback may be the limit", 1 / *ratio, headroomLeast))
}

// probeHeadroom is the check if a control does not show what the generator can do. There are two such cases: the system
// answers alone, while the control's far end uses some of the generator's CPU; and a link bounds both operation and
// control. The limit is then the one CPU of the generator's thread.
func probeHeadroom(row result.Operation) *result.Validity {
	if row.CPU == nil || row.WindowS <= 0 {
		return nil
	}
	share := row.CPU.ProbeS / row.WindowS
	return check(checkHeadroom+row.Name, result.Generator, share <= 1/headroomLeast, fmt.Sprintf(
		"the probe used %.0f %% of its CPU; above %.0f %% it may be the limit", 100*share, 100/headroomLeast))
}

// headroomOverLink judges the generator by its own CPU time, because a link bounds an operation and its control alike.
// If that CPU time is unknown, the check fails.
func headroomOverLink(row result.Operation) *result.Validity {
	if row.Requests == 0 {
		return nil
	}
	if row.CPU != nil && row.CPU.ProbeS > 0 {
		return probeHeadroom(row)
	}
	return check(checkHeadroom+row.Name, result.Generator, false, "the probe's CPU was not measured, and the link may limit the direct control")
}

// isDistinguishable reports whether a percentile of an open loop is distinguishable from the generator's lateness, which it
// includes. If the lateness is more than half of the percentile, the percentile is not shown.
func isDistinguishable(percentile, lateness float64) bool {
	return lateness == 0 || lateness <= percentile*latenessShare
}

// latenessBound is the largest acceptable P99 of a row's generator lateness in ms, and a description of it.
func latenessBound(row result.Operation) (what string, mostMS float64) {
	if row.Loop != "open" {
		return "arrivals handled", handlingMostMS
	}
	mostMS = latenessFloorMS
	if latency := row.LatencyMS; latency != nil && latency.P99 != nil {
		mostMS = math.Max(mostMS, *latency.P99*latenessShare)
	}
	return "sent", mostMS
}

// generatorLateness checks how late requests of an open loop were sent, or how late arrivals of a closed loop were
// handled. A threshold that holds with the lateness included also holds without it. A threshold that fails cannot be
// judged if the lateness is too large a part of the percentile.
func generatorLateness(row result.Operation, lateness record.Values, thresholds []result.Threshold) *result.Validity {
	if lateness["count"] == 0 {
		return nil
	}
	what, most := latenessBound(row)
	var hidden []string // by k6's names
	if latency := row.LatencyMS; row.Loop == "open" && latency != nil {
		for _, p := range record.Percentiles {
			if *latency.Percentile(p.Share) == nil && Carries(p.Share, latency.Count) {
				hidden = append(hidden, p.Name)
			}
		}
	}
	details := []string{fmt.Sprintf("%s late by %.3f ms at P99; at most %.3f ms is allowed", what, lateness["p(99)"], most)}
	if len(hidden) > 0 {
		words := seq.Map(hidden, aggregateOf)
		details = append(details, fmt.Sprintf("the lateness is more than half of %s, which is not shown", strings.Join(words, ", ")))
	}
	clear := true
	for _, line := range thresholds {
		aggregate := aggregateIn(line.Expression)
		if line.Operation == row.Name && line.Unit == "ms" && !line.OK && slices.Contains(hidden, aggregate) {
			clear = false
			details = append(details, fmt.Sprintf("%s %s cannot be judged", aggregateOf(aggregate), line.Required))
		}
	}
	return check("generator lateness: "+row.Name, result.Generator, lateness["p(99)"] <= most && clear, strings.Join(details, "; "))
}

// Failures of the kind meter are caused by the generator, or by the machine that generator and system share. They are no
// evidence about the system under test, so a run with such failures is inconclusive, whatever else failed in it.
const meter = "meter"

func generatorLimits(rows []result.Operation) *result.Validity {
	var met []string
	for _, kind := range kinds.Names {
		if !kinds.All[kind].OwnLimit {
			continue
		}
		var count int64
		for _, row := range rows {
			count += row.Errors[kind]
		}
		if count > 0 {
			met = append(met, fmt.Sprintf("%d × %s: %s", count, kind, kinds.Explain(kind, false)))
		}
	}
	if len(met) == 0 {
		return nil
	}
	return check("generator limits", meter, false, strings.Join(met, "; "))
}

// controlsHold checks that the controls, which do the same work without the system under test, met their thresholds.
func controlsHold(controls []result.Control, thresholds []result.Threshold) *result.Validity {
	if len(controls) == 0 {
		return nil
	}
	var failed []string
	for _, control := range controls {
		if slices.ContainsFunc(thresholds, func(line result.Threshold) bool {
			return !line.OK && aboutErrors(line) && line.Operation == control.Control
		}) {
			failed = append(failed, control.Control)
		}
	}
	if len(failed) == 0 {
		return check(checkControls, meter, true, "none failed")
	}
	return check(checkControls, meter, false, fmt.Sprintf(
		"%s failed without the system: the generator, the far end or the machine is at fault", strings.Join(failed, ", ")))
}
