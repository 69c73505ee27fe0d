// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// notEncrypted marks a hop that others can read.
const notEncrypted = "plain"

// interopTables say who understands whom: a column for each client with each server, and what does not work, with the reason.
func interopTables(r result.Result) []Table {
	in := r.Interop
	if in == nil {
		return nil
	}
	letters := map[string]string{}
	t := Table{Title: "Who understands whom", Head: []string{"Protocol"}, Numbers: -1, State: -1}
	for i, p := range in.Programs {
		letters[p.Name] = letter(i)
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %s%s.", letter(i), program(p.Program), shaOf(p.Program)))
	}
	for _, client := range in.Programs {
		for _, server := range in.Programs {
			t.Head = append(t.Head, letters[client.Name]+"→"+letters[server.Name])
		}
	}
	for _, row := range in.Rows {
		cells := []string{row.Row}
		for _, cell := range row.Cells {
			cells = append(cells, interopCell(cell))
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Notes = append(t.Notes, fmt.Sprintf("X→Y: X is the client, Y the server. %s: 30 round trips came back whole, and 30 datagrams where the protocol carries them; "+
		"%s: they did not; %s: the payload, or the address that is asked for, could be read in a hop that is to be encrypted; %s: not tried.",
		tickOK, tickBad, notEncrypted, format.None))
	tables := []Table{t}
	if faults := interopFaults(*in, letters); len(faults.Rows) > 0 {
		tables = append(tables, faults)
	}
	return tables
}

func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}

func shaOf(p result.Program) string {
	if p.SHA256 == nil {
		return ""
	}
	return ", SHA-256 " + *p.SHA256
}

func interopCell(cell result.InteropCell) string {
	switch cell.Outcome {
	case result.Interoperates:
		return tickOK
	case result.Impossible, "not reached":
		return format.None
	case "not encrypted":
		return notEncrypted
	}
	return tickBad
}

// interopFaults have what did not work, cells of a row with one reason together.
func interopFaults(in result.Interop, letters map[string]string) Table {
	t := Table{Title: "What does not work, and what was not tried", Head: []string{"Protocol", "Client→server", "Outcome", "Reason"}, Numbers: -1, State: -1, Long: true}
	for _, row := range in.Rows {
		var seen []string
		for _, cell := range row.Cells {
			key := cell.Outcome + "|" + detailOf(cell)
			if cell.Outcome == result.Interoperates || slices.Contains(seen, key) {
				continue
			}
			seen = append(seen, key)
			var ends []string
			for _, other := range row.Cells {
				if other.Outcome+"|"+detailOf(other) == key {
					ends = append(ends, letters[other.Client]+"→"+letters[other.Server])
				}
			}
			t.Rows = append(t.Rows, []string{row.Row, strings.Join(ends, ", "), cell.Outcome, detailOf(cell)})
		}
	}
	return t
}

func detailOf(cell result.InteropCell) string {
	if cell.Detail == nil {
		return format.None
	}
	return *cell.Detail
}
