// SPDX-License-Identifier: AGPL-3.0-only

// Package operations has the columns of tables of operations. Reports, benches and single runs show these tables.
package operations

import (
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// Column has a head such as "Rate (/s)", and the text of each operation.
type Column struct {
	Head string
	Cell func(result.Operation) string
}

// Each column of the reference documents, in their order.
var (
	Requests = Column{"Requests", func(op result.Operation) string { return format.Count(op.Requests) }}
	Success  = Column{"Success", func(op result.Operation) string { return format.Success(op.Success, op.Requests) }}
	Rate     = Column{"Rate (/s)", func(op result.Operation) string { return format.Rate(op.RatePerS) }}
	Average  = latency("Avg (ms)", func(l result.Latency) *float64 { return &l.Avg })
	// Percentiles are P50, P95 and P99.
	Percentiles = []Column{
		latency("P50 (ms)", func(l result.Latency) *float64 { return l.P50 }),
		latency("P95 (ms)", func(l result.Latency) *float64 { return l.P95 }),
		latency("P99 (ms)", func(l result.Latency) *float64 { return l.P99 }),
	}
)

// Usual are the columns of the reference documents.
var Usual = append([]Column{Requests, Success, Rate, Average}, Percentiles...)

// Mbit is the payload rate in one direction, a dash without payload.
var Mbit = Column{"Mbit/s", func(op result.Operation) string {
	if op.Transfer == nil {
		return format.None
	}
	return format.Mbit(op.Transfer.MbitPerS)
}}

func latency(head string, of func(result.Latency) *float64) Column {
	return Column{head, func(op result.Operation) string {
		if op.LatencyMS == nil {
			return format.None
		}
		return format.MS(of(*op.LatencyMS))
	}}
}

// Heads are the heads of the columns.
func Heads(all []Column) []string {
	return seq.Map(all, func(c Column) string { return c.Head })
}

// Screen are their heads on a screen, without brackets.
func Screen(all []Column) []string {
	brackets := strings.NewReplacer("(", "", ")", "")
	return seq.Map(all, func(c Column) string { return brackets.Replace(c.Head) })
}

// Row are the cells of an operation.
func Row(all []Column, op result.Operation) []string {
	return seq.Map(all, func(c Column) string { return c.Cell(op) })
}
