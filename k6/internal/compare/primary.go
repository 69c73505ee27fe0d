// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"math"
	"slices"

	"windtunnel/k6/internal/result"
)

// The names of the primary metrics that combine a metric of several operations.
const (
	meanSpeed = "speed_mean"
	meanCPU   = "cpu_mean"
)

// part is one operation's metric in a combined primary metric.
type part struct {
	key
	title string
}

// primaryKind is a candidate for the primary metric: a kind of metric, over the operations that have it. Candidates are
// tried in order.
type primaryKind struct {
	name, title string // of the metric, and of the mean
	open        bool   // for an open loop, whose rate is fixed
}

var speeds = []primaryKind{
	{"mbit_per_s", "throughput", false}, {"rate_per_s", "rate", false}, {"p50", "P50", true},
}

// markPrimary marks the few metrics that must be within the bound. If the scenario's sections have judged figures, those
// are the primary metrics. Otherwise the first is speed: the metric that the scenario declares, else throughput, else rate, or P50 in an
// open loop. The second is the CPU time per operation. For several operations the primary metric is their geometric
// mean, in a separate row; a run has a value if it has all parts. cpu is the kind of CPU time.
func markPrimary(all []row, cpu string, tables ...[]table) []row {
	if slices.ContainsFunc(all, row.judged) {
		return operationsShown(all)
	}
	runs := slices.Concat(tables...)
	parts, kind := declared(runs)
	for i := 0; len(parts) == 0 && i < len(speeds); i++ {
		kind = speeds[i]
		parts = partsOf(runs, kind, func(op result.Operation, has bool) bool { return has && (op.Loop == "open") == kind.open })
	}
	if len(parts) > 0 {
		all = asPrimary(all, parts, Metric{Name: meanSpeed, Title: kind.title}, tables)
	}
	if parts := partsOf(runs, primaryKind{name: cpu}, func(_ result.Operation, has bool) bool { return has }); len(parts) > 0 {
		return asPrimary(all, parts, Metric{Name: meanCPU, Title: "CPU per operation"}, tables)
	}
	return asPrimary(all, []part{{key: key{"", cpu}}}, Metric{}, tables)
}

// operationsShown takes the metrics of operations out of the gate: other scenarios judge speed.
func operationsShown(all []row) []row {
	for i := range all {
		if all[i].Operation != "" && !all[i].evidence {
			all[i].Role = Shown
		}
	}
	return all
}

// judged reports whether the row is a figure of a section that the scenario wants judged.
func (r row) judged() bool { return r.evidence && r.Role == Primary }

func declared(runs []table) ([]part, primaryKind) {
	for _, kind := range speeds {
		if parts := partsOf(runs, kind, func(op result.Operation, _ bool) bool { return op.Primary == kind.name }); len(parts) > 0 {
			return parts, kind
		}
	}
	return nil, primaryKind{}
}

// partsOf lists the metrics of a kind in the runs of both sides, for the wanted operations without controls. The
// argument has of wanted says whether the run has a value.
func partsOf(runs []table, kind primaryKind, wanted func(op result.Operation, has bool) bool) []part {
	var parts []part
	for _, run := range runs {
		for _, row := range run.rows {
			if row.Name != kind.name || row.Control || row.evidence || row.Operation == "" {
				continue
			}
			op, _ := run.result.Find(row.Operation)
			if one := (part{row.key(), row.Title}); wanted(op, row.value != nil) && !slices.Contains(parts, one) {
				parts = append(parts, one)
			}
		}
	}
	return parts
}

// asPrimary marks the single part, or adds the geometric mean to the rows and its values to the tables.
func asPrimary(all []row, parts []part, mean Metric, tables [][]table) []row {
	first := slices.IndexFunc(all, func(r row) bool { return r.key() == parts[0].key })
	if first < 0 {
		return all
	}
	if len(parts) == 1 {
		all[first].Role = Primary
		return all
	}
	mean.Title = fmt.Sprintf("%s, geometric mean of %d operations", mean.Title, len(parts))
	mean.Unit, mean.Better, mean.Role, mean.Notes = all[first].Unit, all[first].Better, Primary, []string{}
	for _, side := range tables {
		for _, t := range side {
			if v, ok := t.geometricMean(parts); ok {
				t.values[key{"", mean.Name}] = v
			}
		}
	}
	return append([]row{{Metric: mean}}, all...)
}

// geometricMean is 0 if any part is 0; it returns false if a part is missing.
func (t table) geometricMean(parts []part) (float64, bool) {
	sum := 0.0
	for _, p := range parts {
		v, ok := t.values[p.key]
		if !ok {
			return 0, false
		}
		if v <= 0 {
			return 0, true
		}
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(parts))), true
}
