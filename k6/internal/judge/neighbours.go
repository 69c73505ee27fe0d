// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel/k6/internal/result"
)

const (
	// disturbedPercent is in percent of one CPU's time. Above it, programs on that CPU wait for others.
	disturbedPercent = 10
	// disturbedLeastS is in seconds: the kernel counts idle time in ticks of 0.01 s, so a few ticks are no sign of a
	// neighbour.
	disturbedLeastS = 0.05
)

// CPUUsage is the use of one CPU during the measuring window: the observed seconds, the seconds used by programs outside
// the run, and the seconds that the hypervisor took. A nil CPU means all CPUs together.
type CPUUsage struct {
	CPU     *int    `json:"cpu"`
	SpanS   float64 `json:"span_s"`
	OthersS float64 `json:"others_s"`
	StealS  float64 `json:"steal_s"`
}

// Sample is the use of the CPUs in a part of the window, which ends at the given time.
type Sample struct {
	AtUnixMS float64 `json:"at_unix_ms"`
	SpanS    float64 `json:"span_s"`
	CPUs     []struct {
		CPU     int     `json:"cpu"`
		OthersS float64 `json:"others_s"`
		StealS  float64 `json:"steal_s"`
	} `json:"cpus"`
}

// Part is a part of the measuring window in which one probe ran. Dropped says that its figures were discarded and
// measured again.
type Part struct {
	Name      string     `json:"name"`
	DurationS float64    `json:"duration_s"`
	ByCPU     []CPUUsage `json:"by_cpu"`
	Dropped   bool       `json:"dropped"`
}

func (u CPUUsage) disturbed() bool {
	taken := u.OthersS + u.StealS
	return taken >= disturbedLeastS && percent(taken, u.SpanS) > disturbedPercent
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * part / whole
}

func tenths(v float64) float64 { return math.Floor(v*10+0.5) / 10 }

func (u CPUUsage) disturbance() result.Disturbance {
	return result.Disturbance{CPU: u.CPU, OthersPercent: tenths(percent(u.OthersS, u.SpanS)), StealPercent: tenths(percent(u.StealS, u.SpanS))}
}

// placed returns the CPUs of a placement, nil if nothing is pinned. A placement's lists look like 0-1,3.
func placed(placement *result.Placement) (cpus []int) {
	if placement == nil {
		return nil
	}
	for part := range strings.SplitSeq(placement.ProbeCPUs+","+placement.EchoCPUs+","+placement.SystemCPUs, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			last, _ = strconv.Atoi(to)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// Disturbances lists the CPUs of a placement that other programs used too much. If nothing is pinned, the run may use
// any CPU, so the share of all CPUs together counts.
func Disturbances(byCPU []CPUUsage, placement *result.Placement) []result.Disturbance {
	found := []result.Disturbance{}
	on := placed(placement)
	if len(on) == 0 {
		if all := together(byCPU); all.disturbed() {
			found = append(found, all.disturbance())
		}
		return found
	}
	for _, usage := range byCPU {
		if usage.CPU != nil && slices.Contains(on, *usage.CPU) && usage.disturbed() {
			found = append(found, usage.disturbance())
		}
	}
	return found
}

func together(byCPU []CPUUsage) (all CPUUsage) {
	for _, usage := range byCPU {
		all.SpanS += usage.SpanS
		all.OthersS += usage.OthersS
		all.StealS += usage.StealS
	}
	return all
}

// placementLoad checks whether only probe, far end and system used the CPUs of their placement; nil if nothing is
// pinned, or if the sidecar did not sample.
func placementLoad(usage *Usage, placement *result.Placement) *result.Validity {
	if usage == nil || placement == nil {
		return nil
	}
	on := placed(placement)
	var details []string
	ok := true
	for _, cpu := range usage.Host.ByCPU {
		if cpu.CPU == nil || cpu.SpanS <= 0 || !slices.Contains(on, *cpu.CPU) {
			continue
		}
		ok = ok && !cpu.disturbed()
		detail := fmt.Sprintf("CPU %d: %.1f %% used by others, %.1f %% taken by the hypervisor",
			*cpu.CPU, percent(cpu.OthersS, cpu.SpanS), percent(cpu.StealS, cpu.SpanS))
		if !cpu.disturbed() && percent(cpu.OthersS+cpu.StealS, cpu.SpanS) > disturbedPercent {
			detail += fmt.Sprintf(" (less than %g s, which is too short to count)", disturbedLeastS)
		}
		details = append(details, detail)
	}
	if len(details) == 0 {
		return nil
	}
	return check("neighbours", result.Machine, ok, fmt.Sprintf("%s; at most %d %%", strings.Join(details, "; "), disturbedPercent))
}

// disturbedSeconds are the seconds of a run in which other programs used its CPUs.
func disturbedSeconds(samples []Sample, placement *result.Placement, start time.Time) []result.Disturbed {
	var order []int
	seconds := map[int][]CPUUsage{}
	for _, sample := range samples {
		second := max(0, int(math.Floor((sample.AtUnixMS-float64(start.UnixMilli()))/1000)))
		if _, known := seconds[second]; !known {
			order = append(order, second)
		}
		sums := seconds[second]
		for _, part := range sample.CPUs {
			i := slices.IndexFunc(sums, func(u CPUUsage) bool { return *u.CPU == part.CPU })
			if i < 0 {
				i, sums = len(sums), append(sums, CPUUsage{CPU: &part.CPU})
			}
			sums[i].SpanS += sample.SpanS
			sums[i].OthersS += part.OthersS
			sums[i].StealS += part.StealS
		}
		seconds[second] = sums
	}
	found := []result.Disturbed{}
	for _, second := range order {
		for _, disturbance := range Disturbances(seconds[second], placement) {
			found = append(found, result.Disturbed{Second: second, Disturbance: disturbance})
		}
	}
	return found
}

// repeatedOf are the parts of a run that were measured again because of a disturbance: the discarded ones, and the ones
// that count instead.
func repeatedOf(parts []Part, placement *result.Placement) []result.Repeated {
	found := []result.Repeated{}
	for _, part := range parts {
		i := slices.IndexFunc(found, func(r result.Repeated) bool { return r.Part == part.Name })
		if i < 0 {
			i, found = len(found), append(found, result.Repeated{Part: part.Name, DisturbedBy: []result.Disturbance{}, Settled: true})
		}
		disturbed := Disturbances(part.ByCPU, placement)
		if part.Dropped {
			found[i].Times++
			found[i].ThrownAwayS += part.DurationS
			found[i].DisturbedBy = append(found[i].DisturbedBy, disturbed...)
			continue
		}
		found[i].Settled = found[i].Settled && len(disturbed) == 0
	}
	for i := range found {
		found[i].ThrownAwayS = math.Floor(found[i].ThrownAwayS*1000+0.5) / 1000
		found[i].DisturbedBy = worst(found[i].DisturbedBy)
		counts := slices.ContainsFunc(parts, func(p Part) bool { return p.Name == found[i].Part && !p.Dropped })
		found[i].Settled = found[i].Settled && counts
	}
	return found
}

func worst(all []result.Disturbance) []result.Disturbance {
	place := func(d result.Disturbance) int {
		if d.CPU == nil {
			return 0
		}
		return *d.CPU
	}
	slices.SortStableFunc(all, func(a, b result.Disturbance) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(b.OthersPercent+b.StealPercent, a.OthersPercent+a.StealPercent))
	})
	return slices.CompactFunc(all, func(a, b result.Disturbance) bool { return place(a) == place(b) })
}
