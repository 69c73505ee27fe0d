// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/operations"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// placement returns text such as `split: probe on CPU 1, echo on CPU 1, system on CPU 0, blocking`, "" without a
// placement.
func placement(p *result.Placement) string {
	if p == nil {
		return ""
	}
	on := func(cpus string) string {
		if cpus == "" {
			return "not pinned"
		}
		return "on CPU " + cpus
	}
	wait := map[string]string{"block": "blocking", "spin": "spinning", "yield": "yielding"}[p.Wait]
	return fmt.Sprintf("%s: probe %s, echo %s, system %s; %s", p.Name, on(p.ProbeCPUs), on(p.EchoCPUs), on(p.SystemCPUs), wait)
}

// transferColumns are the columns of operations with payload: nil if no operation has any.
func transferColumns(r result.Result) []operations.Column {
	var more []operations.Column
	if r.Transfers() {
		more = append(more, operations.Mbit)
	}
	if slices.ContainsFunc(r.Operations, result.Operation.IsDatagrams) {
		more = append(more, operations.Column{Head: "Lost", Cell: func(op result.Operation) string {
			if !op.IsDatagrams() {
				return format.None
			}
			lost := op.LostShare()
			return format.Share(&lost)
		}})
	}
	if slices.ContainsFunc(r.Operations, func(op result.Operation) bool { return op.CPU != nil && op.CPU.SystemS != nil }) {
		more = append(more, operations.Column{Head: "CPU (µs/op)", Cell: func(op result.Operation) string {
			if op.CPU == nil || r.IsControl(op.Name) { // a control does not involve the system
				return format.None
			}
			return decimals(op.CPU.SystemUSPerOperation, 1)
		}})
	}
	return more
}

func controlsTable(r result.Result) Table {
	t := Table{
		Title:   "What the proxy costs",
		Head:    []string{"Operation", "Control", "P50 less control (ms)", "P95 less control (ms)", "P99 less control (ms)", "Rate ratio"},
		Numbers: from(2), State: -1,
	}
	for _, c := range r.Controls {
		t.Rows = append(t.Rows, []string{r.TitleOf(c.Operation), r.TitleOf(c.Control),
			format.SignedMS(c.P50MS), format.SignedMS(c.P95MS), format.SignedMS(c.P99MS), decimals(c.RateRatio, 3)})
	}
	if len(t.Rows) > 0 {
		t.Notes = []string{"The control is the same operation without the proxy, measured in turn with it under the same placement."}
	}
	return t
}

func decimals(v *float64, digits int) string {
	return orNone(v, func(known float64) string { return strconv.FormatFloat(known, 'f', digits, 64) })
}

// runnersTable lists the k6 processes of a run with several.
func runnersTable(r result.Result, coordinator *run.Coordinator) Table {
	t := Table{
		Title:   "Runners",
		Head:    []string{"", "Runner", "Segment", "Share", "CPU (% of one core)", "Late at P99 (ms)", "Start (ms)", "Clock set by (ms)", "Dropped", "Record"},
		Numbers: between(3, 9), State: 0,
	}
	for _, one := range r.Runners {
		t.Rows = append(t.Rows, []string{
			tick(&one.OK), fmt.Sprint(one.Number), cmp.Or(one.Segment, format.None), format.Share(one.Share), orNone(one.CPUPercent, format.Percent), format.MS(one.LateMS),
			format.MS(one.StartOffsetMS), format.MS(one.ClockOffsetMS), format.Count(int64(one.DroppedIterations)), orNone(one.Record, recordText),
		})
		if one.Detail != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("Runner %d: %s.", one.Number, one.Detail))
		}
	}
	if coordinator != nil && coordinator.LoadS > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("The coordinator's process (%s) used %.2f s of CPU time in the %.1f s of the load: %s of one core.",
			coordinator.Program, coordinator.CPUS, coordinator.LoadS, format.Percent(100*coordinator.CPUS/coordinator.LoadS)))
	}
	return t
}

// orNone writes a value; a dash if it is unknown.
func orNone[T any](value *T, write func(T) string) string {
	if value == nil {
		return format.None
	}
	return write(*value)
}

// recordText is a record's name, its size, and the start of its checksum.
func recordText(file result.RecordFile) string {
	text := fmt.Sprintf("%s, %s MiB", file.File, format.MiB(file.Bytes))
	if file.SHA256 != "" {
		text += ", SHA-256 " + file.SHA256[:min(12, len(file.SHA256))]
	}
	return text
}
