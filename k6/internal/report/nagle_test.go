// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestWaits(t *testing.T) {
	for ms, want := range map[float64]int{0.3: 0, 20: 0, 38: 0, 40.2: 1, 43.8: 1, 47: 1, 50: 0, 60: 0, 80.5: 2, 88: 2, 100: 0, 121: 3, 176: 4, 400: 0} {
		if got := waits(ms); got != want {
			t.Errorf("%v ms: %d waits, want %d", ms, got, want)
		}
	}
}

func TestNagleNotes(t *testing.T) {
	p50, added, little := 43.9, 43.7, 2.0
	op := result.Operation{Name: "tcp", Title: "TCP round trip", LatencyMS: &result.Latency{P50: &p50}}
	slow := result.Result{Operations: []result.Operation{op}, Controls: []result.Control{{Operation: "tcp", Control: "tcp_direct", P50MS: &added}}}
	if notes := nagleNotes(slow); len(notes) != 1 || !strings.HasPrefix(notes[0], "TCP round trip: P50 43.9 ms (one wait): as long as") {
		t.Errorf("%q", notes)
	}
	// A line of 42 ms is no fault of the proxy's.
	far := slow
	far.Controls = []result.Control{{Operation: "tcp", Control: "tcp_direct", P50MS: &little}}
	if notes := nagleNotes(far); notes != nil {
		t.Errorf("%q", notes)
	}
	figures := func(rtt float64) map[string]*result.Spread {
		return map[string]*result.Spread{"rtt_ms": {Median: rtt}, "handshake_ms": {Median: 1}}
	}
	rows := []result.ProtocolRow{{Row: "vless", Baseline: result.ProtocolSide{Figures: figures(0.3)}, Candidate: &result.ProtocolSide{Figures: figures(88.2)}}}
	notes := nagleNotes(result.Result{Protocols: &result.Protocols{Rows: rows}})
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "vless, candidate: RTT 88.2 ms (2 waits): ") {
		t.Errorf("%q", notes)
	}
	if notes := nagleNotes(result.Result{}); notes != nil {
		t.Errorf("%q of nothing", notes)
	}
}
