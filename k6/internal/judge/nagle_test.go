// SPDX-License-Identifier: AGPL-3.0-only

package judge

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

func TestWaitNotes(t *testing.T) {
	p50, added, little := 43.9, 43.7, 2.0
	op := result.Operation{Name: "tcp", Title: "TCP round trip", LatencyMS: &result.Latency{P50: &p50}}
	slow := Judged{Result: result.Result{Operations: []result.Operation{op}, Controls: []result.Control{{Operation: "tcp", Control: "tcp_direct", P50MS: &added}}}}
	if notes := waitNotes(Evidence{}, slow); len(notes) != 1 || !strings.HasPrefix(notes[0], "TCP round trip: P50 43.9 ms (one wait): this matches delayed") {
		t.Errorf("%q", notes)
	}
	// A line of 42 ms is no fault of the proxy.
	far := slow
	far.Controls = []result.Control{{Operation: "tcp", Control: "tcp_direct", P50MS: &little}}
	if notes := waitNotes(Evidence{}, far); notes != nil {
		t.Errorf("%q", notes)
	}
	figures := func(rtt float64) map[string]*Spread {
		return map[string]*Spread{"rtt_ms": {Median: rtt}, "handshake_ms": {Median: 1}}
	}
	rows := []ProtocolRow{{Row: "vless", Baseline: ProtocolSide{Figures: figures(0.3)}, Candidate: &ProtocolSide{Figures: figures(88.2)}}}
	notes := waitNotes(Evidence{Protocols: &Protocols{Rows: rows}}, Judged{})
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "vless, candidate: RTT 88.2 ms (2 waits): ") {
		t.Errorf("%q", notes)
	}
	if notes := waitNotes(Evidence{}, Judged{}); notes != nil {
		t.Errorf("%q of nothing", notes)
	}
}
