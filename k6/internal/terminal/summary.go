// SPDX-License-Identifier: AGPL-3.0-only

package terminal

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/operations"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Summary prints a row for each operation without controls, then the reasons of each scenario that did not pass.
func (s *Screen) Summary(set report.Set) {
	shown := []operations.Column{operations.Requests, operations.Success, operations.Rate}
	entries := set.Entries()
	if slices.ContainsFunc(entries, func(e report.Entry) bool { return e.Result != nil && e.Result.Transfers() }) {
		shown = append(shown, operations.Mbit)
	}
	shown = append(shown, operations.Percentiles...)
	head := slices.Concat([]string{"scenario", "operation"}, operations.Screen(shown), []string{"verdict"})
	rows := [][]string{seq.Map(head, strings.ToUpper)}
	for _, e := range entries {
		if e.Result == nil || len(e.Result.Operations) == 0 {
			dashes := slices.Repeat([]string{format.None}, len(head)-2)
			rows = append(rows, slices.Concat([]string{e.Name}, dashes, []string{e.Outcome}))
			continue
		}
		name, outcome := e.Name, e.Outcome
		for _, op := range e.Result.Judged() {
			rows = append(rows, slices.Concat([]string{name, op.Name}, operations.Row(shown, op), []string{outcome}))
			name, outcome = "", ""
		}
	}
	s.Line("")
	s.printTable(rows)
	s.Line("")
	s.systemCPU(entries)
	lines, left := report.Lines(entries)
	for _, line := range lines {
		s.Text(line.String())
	}
	if left > 0 {
		s.Line("%s", report.More(left))
	}
	for _, e := range entries {
		if e.Result != nil && e.Result.Leftovers != nil {
			s.Text(e.Name + ": " + e.Result.Leftovers.Text())
		}
	}
	s.Line("verdict: %s", s.Paint(set.Verdict()))
}

// systemCPU prints where the CPU time of each system went, if known. The scenarios of a run have the same quiet period.
func (s *Screen) systemCPU(entries []report.Entry) {
	var rows [][]string
	for _, e := range entries {
		if e.Result == nil || e.Result.CPU == nil {
			continue
		}
		cpu := *e.Result.CPU
		if rows == nil {
			rows = [][]string{{"CPU OF THE SYSTEM", "TOTAL", "MEASURED PARTS", "BETWEEN", fmt.Sprintf("%g S OF QUIET", cpu.QuietS)}}
		}
		measured, between, quiet := cpu.Shares(e.Result.Processes)
		rows = append(rows, []string{e.Name, fmt.Sprintf("%.2f s", cpu.SystemS), measured, between, quiet})
	}
	if rows == nil {
		return
	}
	for _, line := range format.Align(rows, func(column int) bool { return column > 0 }) {
		s.Line("%s", line)
	}
	s.Line("")
}

// printTable prints rows with a head; verdicts are coloured. On a narrow terminal, each scenario with its verdict is a
// line above its operations.
func (s *Screen) printTable(rows [][]string) {
	lines := alignRows(rows, 2)
	if !s.fits(lines) {
		s.printStacked(rows)
		return
	}
	for i, line := range lines {
		verdict := rows[i][len(rows[i])-1]
		if i > 0 && verdict != "" {
			line = strings.TrimSuffix(line, verdict) + s.Paint(verdict)
		}
		s.Line("%s", strings.TrimRight(line, " "))
	}
}

func (s *Screen) printStacked(rows [][]string) {
	operations := seq.Map(rows, func(row []string) []string { return append(slices.Clone(row[1:len(row)-1]), "") })
	for i, line := range alignRows(operations, 1) {
		if row := rows[i]; i > 0 && row[0] != "" {
			s.Line("%s  %s", row[0], s.Paint(row[len(row)-1]))
		}
		s.Line("  %s", strings.TrimRight(line, " "))
	}
}

// alignRows pads columns: the first ones, which are texts, are left-aligned, numbers are right-aligned, and the last
// column is unchanged.
func alignRows(rows [][]string, texts int) []string {
	return format.Align(rows, func(column int) bool { return column >= texts && column < len(rows[0])-1 })
}

// Paint colours an outcome on a terminal.
func (s *Screen) Paint(outcome string) string {
	if !s.color {
		return outcome
	}
	color := "33" // yellow
	switch outcome {
	case run.Pass:
		color = "32"
	case run.Fail, run.SetupFailed:
		color = "31"
	}
	return "\x1b[" + color + "m" + outcome + "\x1b[0m"
}
