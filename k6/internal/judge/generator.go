// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

const (
	// leastIdlePercent of all cores: with less, the generator competes with what it measures.
	leastIdlePercent = 5
	// othersMostPercent of one core, on a full machine, that neither the testbed nor the generator used.
	othersMostPercent = 50
	// headroomLeast is how many times as fast a control must be, or the meter may be the limit.
	headroomLeast = 1.2
	// Lateness of an open loop may be this share of the P99 that it is part of, or this many ms where that is more.
	latenessShare   = 0.5
	latenessFloorMS = 5
	// handlingMostMS: arrivals are timed at the socket, so that late handling is not in the latency; above this the generator
	// is swamped.
	handlingMostMS = 250
)

// Usage is what processes and CPUs did while the measuring window was open, as the sidecar tells it (sidecar/README.md).
type Usage struct {
	DurationS float64 `json:"duration_s"`
	Host      struct {
		// Nil where the sidecar cannot tell.
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
	} `json:"total"`
	Repeated []Part `json:"repeated"`
	// Whole is of the system from the first start to the end of the quiet period; nil where there was none.
	Whole *result.WindowCPU `json:"whole,omitempty"`
}

// UnmarshalJSON takes what it knows of the sidecar's answer.
func (u *Usage) UnmarshalJSON(data []byte) error {
	type plain Usage
	return json.Unmarshal(data, (*plain)(u))
}

// ProcessUsage is one of them. ExitAfterS is from the window's opening; nil where it lives, or nobody saw it end.
type ProcessUsage struct {
	result.Process
	ExitAfterS *float64 `json:"exit_after_s"`
}

// windowCPU is what the system used from the first start of the load to the end of the quiet period; nil where nobody waited
// for one, or where no process of the system was watched.
func windowCPU(usage *Usage) *result.WindowCPU {
	if usage == nil || !slices.ContainsFunc(usage.Processes, isSystem) {
		return nil
	}
	return usage.Whole
}

// processesOf are the rows of the result, with a total of the system's.
func processesOf(usage *Usage) []result.Process {
	rows := []result.Process{}
	if usage == nil {
		return rows
	}
	for _, p := range usage.Processes {
		rows = append(rows, p.Process)
	}
	if !slices.ContainsFunc(rows, func(p result.Process) bool { return p.Role == "system" }) {
		return rows
	}
	total := usage.Total
	return append(rows, result.Process{
		Name: "total", Role: "total", CPUS: total.CPUS, CPUPercent: total.CPUPercent, PeakRSSBytes: total.PeakRSSBytes, PeakAnonBytes: total.PeakAnonBytes,
	})
}

// generatorCPU: the generator is the bottleneck where the machine had nothing left and it took the larger part of that; so is
// anything else that took a large part. Controlled: the same load without the system tells what the generator can do. Unseen
// are CPU seconds of systems under test that are not among the window's processes. Placed: somebody else on the CPUs of the
// placement is told by a check of its own, and what happened on other CPUs is no matter.
func generatorCPU(usage *Usage, controlled bool, unseen float64, placed bool) *result.Validity {
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
		return open("not measured: no sidecar")
	}
	if usage.DurationS == 0 {
		return open("nothing was measured")
	}
	if usage.Host.CPUs == nil || usage.Host.BusyPercent == nil {
		return open("how many cores the machine has and how busy they were is unknown")
	}
	cpus, busy := *usage.Host.CPUs, *usage.Host.BusyPercent
	others := 0.0
	if !placed {
		others = math.Max(0, busy*cpus-all-100*unseen/usage.DurationS)
	}
	full := isFull(busy)
	detail := fmt.Sprintf("%s used %.1f %% of one core; the %.0f cores were %.1f %% busy", strings.Join(names, " and "), own, cpus, busy)
	if full && others > othersMostPercent {
		return check(name, result.Machine, false, fmt.Sprintf("%s, %.1f %% of one core with something else", detail, others))
	}
	return check(name, result.Generator, controlled || !tookTheMachine(own, busy, cpus), detail)
}

func isFull(busyPercent float64) bool { return 100-busyPercent < leastIdlePercent }

// tookTheMachine: a machine had nothing left, and the generator, in per cent of one core, took the larger part of it.
func tookTheMachine(own, busyPercent, cpus float64) bool {
	return isFull(busyPercent) && own > busyPercent*cpus/2
}

// checkHeadroom is followed by the operation's name.
const checkHeadroom = "generator headroom: "

// headroomOf is how fast the meter could be beside an operation; nil where nothing bounds it.
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

// headroom: where as much is sent as comes through, what the meter can do without the system bounds what it can tell of the
// system. One round trip at a time has no such bound.
func headroom(control result.Control, saturates bool) *result.Validity {
	ratio := control.RateRatio
	if !saturates || ratio == nil || *ratio == 0 {
		return nil
	}
	return check(checkHeadroom+control.Operation, result.Generator, *ratio <= 1/headroomLeast, fmt.Sprintf(
		"direct it is %.2f times as fast; below %.1f the meter, the far end or loopback may be the limit", 1 / *ratio, headroomLeast))
}

// probeHeadroom is the same where a control does not tell what the meter can do: of an operation that the system answers by
// itself, beside whose control a far end takes some of the meter's CPU, and over a link, which bounds both sides. What bounds
// such an operation is the one CPU of the meter's thread.
func probeHeadroom(row result.Operation) *result.Validity {
	if row.CPU == nil || row.WindowS <= 0 {
		return nil
	}
	share := row.CPU.ProbeS / row.WindowS
	return check(checkHeadroom+row.Name, result.Generator, share <= 1/headroomLeast, fmt.Sprintf(
		"the probe used %.0f %% of its CPU; above %.0f %% it may be the limit", 100*share, 100/headroomLeast))
}

// headroomOverLink: a link bounds an operation and its control alike, so that the meter is judged by its own CPU. A meter
// whose CPU nobody knows has not been judged.
func headroomOverLink(row result.Operation) *result.Validity {
	if row.Requests == 0 {
		return nil
	}
	if row.CPU != nil && row.CPU.ProbeS > 0 {
		return probeHeadroom(row)
	}
	return check(checkHeadroom+row.Name, result.Generator, false, "the probe's CPU was not measured, and the link may bound the direct way")
}

// toldApart: a percentile of an open loop holds the generator's own lateness. Where that is more than half of it, it is not
// told.
func toldApart(percentile, lateness float64) bool {
	return lateness == 0 || lateness <= percentile*latenessShare
}

// latenessBound is what a row's generator may be late with at P99, and by how many ms.
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

// generatorLateness is how late requests of an open loop were sent, and how late arrivals of a closed one were handled. A
// threshold that holds with the lateness in the percentile holds without it; one that does not cannot be judged where the two
// cannot be told apart.
func generatorLateness(row result.Operation, lateness record.Values, thresholds []result.Threshold) *result.Validity {
	if lateness["count"] == 0 {
		return nil
	}
	what, most := latenessBound(row)
	var hidden []string // k6's names
	if latency := row.LatencyMS; row.Loop == "open" && latency != nil {
		for _, p := range percentiles {
			if *p.in(latency) == nil && Carries(p.share, latency.Count) {
				hidden = append(hidden, p.key)
			}
		}
	}
	told := []string{fmt.Sprintf("%s %.3f ms late at P99, at most %.3f ms allowed", what, lateness["p(99)"], most)}
	if len(hidden) > 0 {
		words := make([]string, len(hidden))
		for i, key := range hidden {
			words[i] = aggregateOf(key)
		}
		told = append(told, fmt.Sprintf("more than half of %s, not shown", strings.Join(words, ", ")))
	}
	clear := true
	for _, line := range thresholds {
		aggregate := aggregateIn(line.Expression)
		if line.Operation == row.Name && line.Unit == "ms" && !line.OK && slices.Contains(hidden, aggregate) {
			clear = false
			told = append(told, fmt.Sprintf("%s %s cannot be judged", aggregateOf(aggregate), line.Required))
		}
	}
	return check("generator lateness: "+row.Name, result.Generator, lateness["p(99)"] <= most && clear, strings.Join(told, "; "))
}

// Failures of the kind meter are the meter's own: of the generator, or of the machine that both share. They say nothing of
// the system under test, so a run that has them is inconclusive, whatever else failed in it.
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

// controlsHold: a control does the same without the system under test.
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
