// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestCoverageTellsWhatWasMeasuredFromWhatWasNot(t *testing.T) {
	row := func(name, outcome, detail string) result.ProtocolRow {
		return result.ProtocolRow{Row: name, Baseline: side(outcome, detail)}
	}
	known := row("vless-httpupgrade", "errors", "1 × closed")
	known.Baseline.Known = new("breaks")
	p := result.Protocols{
		Baseline: result.Program{Engine: "sing-box", Binary: "sing-box"},
		Rows: []result.ProtocolRow{
			row("trojan", result.Measured, "of 100 tunnels at once 12 opened"), row("trojan-ws", result.Measured, ""),
			row("tuic", result.Measured, ""), row("tuic-b", "crashed at start", "signal 11"), row("vmess", "errors", "2 × timeout"),
			row("ssh", "impossible here", "no sshd"), row("vless", "not reached", ""), known, row("wireguard", result.Measured, ""),
		},
	}
	p.Coverage.Inbound = []result.Coverage{
		{Type: "trojan", Rows: []string{"trojan", "trojan-ws", "trojan-grpc"}},
		{Type: "tuic", Rows: []string{"tuic-b", "tuic"}},
		{Type: "vmess", Rows: []string{"vmess"}},
		{Type: "vless", Rows: []string{"vless"}},
		{Type: "upgrade", Rows: []string{"vless-httpupgrade"}},
		{Type: "naive", Rows: []string{"naive"}},
	}
	p.Coverage.Outbound = []result.Coverage{
		{Type: "ssh", Rows: []string{"ssh"}},
		{Type: "wireguard", Rows: []string{"wireguard"}, Instead: new("the endpoint")},
		{Type: "tor", Reason: new("needs the Tor network")},
	}
	want := [][]string{
		{tickOK, "inbound", "trojan", "trojan, trojan-ws: measured; trojan-grpc: not asked for"},
		{tickBad, "inbound", "tuic", "tuic-b: crashed at start (signal 11); tuic: measured"},
		{tickBad, "inbound", "vmess", "vmess: errors (2 × timeout)"},
		{tickUnknown, "inbound", "vless", "vless: not reached"},
		{tickOK, "inbound", "upgrade", "vless-httpupgrade: errors (1 × closed)"},
		{tickUnknown, "inbound", "naive", "naive: not asked for"},
		{tickUnknown, "outbound", "ssh", "ssh: impossible here (no sshd)"},
		{tickOK, "outbound", "wireguard", "wireguard: measured; it is the endpoint"},
		{tickUnknown, "outbound", "tor", "no row: needs the Tor network"},
	}
	table := coverageTables(p)[0]
	if sums := "Measured: 2 of 6 inbounds, 1 of 3 outbounds."; !slices.Equal(table.Notes, []string{sums}) {
		t.Errorf("notes are %q, want %q", table.Notes, sums)
	}
	got := table.Rows
	for index, cells := range want {
		if !slices.Equal(got[index], cells) {
			t.Errorf("row %d is %q, want %q", index, got[index], cells)
		}
	}
}

func TestCoverageIsOfSingBoxOnly(t *testing.T) {
	p := compared()
	p.Baseline.Engine = "xray"
	if tables := coverageTables(p); tables[0].Title != "Coverage of the types of sing-box, by sing-box (next)" {
		t.Errorf("the candidate is sing-box: %q", tables[0].Title)
	}
	p.Candidate.Engine = "xray"
	if tables := coverageTables(p); len(tables) != 1 || len(tables[0].Head) != 4 || tables[0].Head[0] != "Protocol" {
		t.Errorf("none is sing-box: %v", tables)
	}
}
