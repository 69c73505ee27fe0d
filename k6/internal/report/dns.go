// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// dnsTable is each kind of query through the proxy above the same direct.
func dnsTable(r result.Result) Table {
	t := Table{
		Title:   "DNS queries",
		Head:    []string{"Names", "In flight", "Via", "Queries/s", "P50 (ms)", "P95 (ms)", "P99 (ms)", "Lost", "By direct P50", "Upstream queries"},
		Numbers: 3, State: -1,
	}
	if r.DNS == nil {
		return t
	}
	operations := map[string]result.Operation{}
	for _, op := range r.Operations {
		operations[op.Name] = op
	}
	for _, row := range r.DNS.Rows {
		op := operations[row.Operation]
		flight, upstream, via := "open loop", format.None, row.Via
		if row.InFlight != nil {
			flight = format.Count(*row.InFlight)
		}
		if row.Upstream != nil {
			upstream = format.Count(row.Upstream.Queries)
			via = program(result.Program{Engine: r.DNS.Engine, Binary: r.DNS.Engine, Version: r.DNS.Version}) + ", " + r.DNS.Protocol
		}
		lost := op.LostShare()
		p50, p95, p99 := dnsLatency(op)
		t.Rows = append(t.Rows, []string{row.Names, flight, via, format.Rate(op.RatePerS), format.MS(p50), format.MS(p95), format.MS(p99),
			format.Share(&lost), timesDirect(p50, operations[row.Operation+"_direct"]), upstream})
	}
	cached := "The client does not cache."
	if r.DNS.Cache {
		cached = "The client caches: of known names each ought to get through once a probe."
	}
	t.Notes = []string{cached + " Upstream queries are those that the authoritative server behind the proxy got, warm-up included."}
	return t
}

func dnsLatency(op result.Operation) (p50, p95, p99 *float64) {
	if op.LatencyMS == nil {
		return nil, nil, nil
	}
	return op.LatencyMS.P50, op.LatencyMS.P95, op.LatencyMS.P99
}

// timesDirect is `3.2 ×`; none for a control.
func timesDirect(p50 *float64, control result.Operation) string {
	direct, _, _ := dnsLatency(control)
	if p50 == nil || direct == nil || *direct == 0 {
		return format.None
	}
	return fmt.Sprintf("%.1f ×", *p50 / *direct)
}
