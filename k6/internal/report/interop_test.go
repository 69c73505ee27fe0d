// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestWhoUnderstandsWhom(t *testing.T) {
	program := func(name, engine, version string) result.InteropProgram {
		return result.InteropProgram{Name: name, Program: result.Program{Engine: engine, Binary: engine, Version: &version}}
	}
	cell := func(client, server, outcome, detail string) result.InteropCell {
		c := result.InteropCell{Client: client, Server: server, Outcome: outcome}
		if detail != "" {
			c.Detail = &detail
		}
		return c
	}
	tables := interopTables(result.Result{Interop: &result.Interop{
		Programs: []result.InteropProgram{program("sing-box", "sing-box", "1.12.12"), program("xray", "xray", "26.3.27")},
		Rows: []result.InteropRow{
			{Row: "vless-tls", Encrypted: true, Cells: []result.InteropCell{
				cell("sing-box", "sing-box", "interoperates", ""), cell("sing-box", "xray", "not encrypted", "the payload can be read"),
				cell("xray", "sing-box", "does not interoperate", "TCP: 0 of 30"), cell("xray", "xray", "does not interoperate", "TCP: 0 of 30"),
			}},
			{Row: "tuic", Cells: []result.InteropCell{
				cell("sing-box", "sing-box", "refused configuration", "unknown field"), cell("sing-box", "xray", "impossible here", "xray-core has no tuic"),
				cell("xray", "sing-box", "impossible here", "xray-core has no tuic"), cell("xray", "xray", "impossible here", "xray-core has no tuic"),
			}},
		},
	}})
	if len(tables) != 2 {
		t.Fatalf("%d tables", len(tables))
	}
	if want := []string{"Protocol", "A→A", "A→B", "B→A", "B→B"}; !slices.Equal(tables[0].Head, want) {
		t.Error(tables[0].Head)
	}
	for i, want := range [][]string{{"vless-tls", "✓", "plain", "✗", "✗"}, {"tuic", "✗", "—", "—", "—"}} {
		if !slices.Equal(tables[0].Rows[i], want) {
			t.Error(tables[0].Rows[i])
		}
	}
	if notes := strings.Join(tables[0].Notes, "\n"); !strings.Contains(notes, "A: sing-box 1.12.12.") || !strings.Contains(notes, "B: xray 26.3.27.") {
		t.Error(notes)
	}
	want := [][]string{
		{"vless-tls", "A→B", "not encrypted", "the payload can be read"},
		{"vless-tls", "B→A, B→B", "does not interoperate", "TCP: 0 of 30"},
		{"tuic", "A→A", "refused configuration", "unknown field"},
		{"tuic", "A→B, B→A, B→B", "impossible here", "xray-core has no tuic"},
	}
	if !slices.EqualFunc(tables[1].Rows, want, slices.Equal) {
		t.Error(tables[1].Rows)
	}
	if got := interopTables(result.Result{}); got != nil {
		t.Error("tables of nothing")
	}
}
