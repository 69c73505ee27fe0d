// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestDNSTable(t *testing.T) {
	op := func(name string, p50, rate float64, lost int64) result.Operation {
		return result.Operation{Name: name, Requests: 1000, RatePerS: &rate, Errors: map[string]int64{"lost": lost},
			LatencyMS: &result.Latency{P50: &p50, P95: new(0.5)}}
	}
	r := result.Result{
		Operations: []result.Operation{op("uncached", 0.3, 3000, 10), op("uncached_direct", 0.1, 9000, 0), op("cached_open", 0.2, 500, 0)},
		DNS: &result.DNS{Engine: "xray", Version: new("26.3.27"), Protocol: "trojan", Cache: true, Rows: []result.DNSRow{
			{Operation: "uncached", Via: "proxy", Names: "new", InFlight: new(int64(1)), Upstream: &result.DNSUpstream{Queries: 1050, Expected: 1050}},
			{Operation: "uncached_direct", Via: "direct", Names: "new", InFlight: new(int64(1))},
			{Operation: "cached_open", Via: "proxy", Names: "known", Upstream: &result.DNSUpstream{Queries: 100, Expected: 100}},
		}},
	}
	want := [][]string{
		{"new", "1", "xray 26.3.27, trojan", "3,000", "0.300", "0.500", "—", "1%", "3.0 ×", "1,050"},
		{"new", "1", "direct", "9,000", "0.100", "0.500", "—", "0%", "—", "—"},
		{"known", "open loop", "xray 26.3.27, trojan", "500.0", "0.200", "0.500", "—", "0%", "—", "100"},
	}
	for index, row := range dnsTable(r).Rows {
		if !slices.Equal(row, want[index]) {
			t.Errorf("row %d is %q, want %q", index, row, want[index])
		}
	}
	if rows := dnsTable(result.Result{}).Rows; rows != nil {
		t.Errorf("without DNS there are rows: %q", rows)
	}
}
