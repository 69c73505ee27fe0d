// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// coverageTables say of each type of sing-box whether the run measured it or why not, and of each protocol what it
// needs and what of it no row measures. The types are sing-box's own: a side without it has no table of them.
func coverageTables(p result.Protocols) []Table {
	var tables []Table
	if len(p.Coverage.Inbound) > 0 {
		if p.Baseline.Engine == singBox {
			tables = append(tables, typesTable(p, p.Baseline, baselineOf))
		}
		if p.Candidate != nil && p.Candidate.Engine == singBox {
			tables = append(tables, typesTable(p, *p.Candidate, candidateOf))
		}
	}
	if len(p.Coverage.Protocols) > 0 {
		tables = append(tables, extentTable(p.Coverage.Protocols))
	}
	return tables
}

type sideOf func(result.ProtocolRow) *result.ProtocolSide

func baselineOf(row result.ProtocolRow) *result.ProtocolSide  { return &row.Baseline }
func candidateOf(row result.ProtocolRow) *result.ProtocolSide { return row.Candidate }

// singBox is the engine whose types the rows cover.
const singBox = "sing-box"

func typesTable(p result.Protocols, ran result.Program, side sideOf) Table {
	t := Table{Title: "Coverage of the types of sing-box, by " + program(ran), Head: []string{"", "Side", "Type", "This run"}, Numbers: -1, State: 0}
	var sums []string
	rows := map[string]result.ProtocolRow{}
	for _, row := range p.Rows {
		if side(row) != nil {
			rows[row.Row] = row
		}
	}
	for _, types := range []struct {
		name  string
		types []result.Coverage
	}{{"inbound", p.Coverage.Inbound}, {"outbound", p.Coverage.Outbound}} {
		measured := 0
		for _, c := range types.types {
			state, text := covered(c, rows, side)
			if state != nil && *state {
				measured++
			}
			t.Rows = append(t.Rows, []string{tick(state), types.name, c.Type, text})
		}
		sums = append(sums, fmt.Sprintf("%d of %d %ss", measured, len(types.types), types.name))
	}
	t.Notes = []string{"Measured: " + strings.Join(sums, ", ") + "."}
	return t
}

// covered is how the rows of a type ended, those together that ended alike: true where what could run was measured,
// false where a row failed, nil where nothing was measured.
func covered(c result.Coverage, rows map[string]result.ProtocolRow, side sideOf) (state *bool, text string) {
	if c.Reason != nil {
		return nil, "no row: " + *c.Reason
	}
	var endings []string
	names := map[string][]string{}
	for _, name := range c.Rows {
		ending, ok := "not asked for", (*bool)(nil)
		if row, asked := rows[name]; asked {
			ending, ok = ended(*side(row))
		}
		if ok != nil && (state == nil || !*ok) {
			state = ok
		}
		if names[ending] == nil {
			endings = append(endings, ending)
		}
		names[ending] = append(names[ending], name)
	}
	for index, ending := range endings {
		endings[index] = strings.Join(names[ending], ", ") + ": " + ending
	}
	text = strings.Join(endings, "; ")
	if c.Instead != nil {
		text += "; it is " + *c.Instead
	}
	return state, text
}

// ended is a row's outcome with its detail, and whether it ran; nil where it could not, or was not reached.
func ended(s result.ProtocolSide) (text string, ran *bool) {
	text = s.Outcome
	if s.Detail != nil && s.Outcome != result.Measured {
		text += " (" + *s.Detail + ")"
	}
	switch s.Outcome {
	case result.Measured:
		return text, new(true)
	case "errors":
		return text, new(s.Known != nil)
	case "impossible here", "not reached":
		return text, nil
	}
	return text, new(false)
}

func extentTable(protocols []result.ProtocolExtent) Table {
	t := Table{Title: "What each protocol needs, and what of it has no row", Head: []string{"Protocol", "Rows", "Needs", "No row has, and why"}, Numbers: -1, State: -1}
	for _, p := range protocols {
		needs, leftOut := format.None, format.None
		if p.Needs != nil {
			needs = *p.Needs
		}
		if len(p.LeftOut) > 0 {
			leftOut = strings.Join(p.LeftOut, "; ")
		}
		t.Rows = append(t.Rows, []string{p.Protocol, strings.Join(p.Rows, ", "), needs, leftOut})
	}
	return t
}
