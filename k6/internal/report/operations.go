// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"slices"
	"strconv"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
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

type column struct {
	head string
	cell func(result.Operation) string
}

// Mbit is the payload rate of an operation in one direction, a dash without payload.
func Mbit(op result.Operation) string {
	return orNone(op.Transfer, func(t result.Transfer) string { return format.Mbit(t.MbitPerS) })
}

// transferColumns are the columns of operations with payload: nil if no operation has any.
func transferColumns(r result.Result) []column {
	var columns []column
	if r.Transfers() {
		columns = append(columns, column{"Mbit/s", Mbit})
	}
	if slices.ContainsFunc(r.Operations, result.Operation.IsDatagrams) {
		columns = append(columns, column{"Lost", func(op result.Operation) string {
			if !op.IsDatagrams() {
				return format.None
			}
			lost := op.LostShare()
			return format.Share(&lost)
		}})
	}
	if slices.ContainsFunc(r.Operations, func(op result.Operation) bool { return op.CPU != nil && op.CPU.SystemS != nil }) {
		columns = append(columns, column{"CPU (µs/op)", func(op result.Operation) string {
			if op.CPU == nil || r.IsControl(op.Name) { // a control does not involve the system
				return format.None
			}
			return decimals(op.CPU.SystemUSPerOperation, 1)
		}})
	}
	return columns
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
