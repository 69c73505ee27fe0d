// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
)

// printSummary prints a row per operation, controls left out, then why what did not pass did not.
func (b *bench) printSummary(set report.Set) {
	head := []string{"SCENARIO", "OPERATION", "REQUESTS", "SUCCESS", "RATE/S", "P50 MS", "P95 MS", "P99 MS", "VERDICT"}
	entries := set.Entries()
	probed := slices.ContainsFunc(entries, func(e report.Entry) bool { return e.Result != nil && e.Result.Transfers() })
	if probed {
		head = slices.Insert(head, 5, "MBIT/S")
	}
	rows := [][]string{head}
	for _, e := range entries {
		if e.Result == nil || len(e.Result.Operations) == 0 {
			dashes := slices.Repeat([]string{format.None}, len(head)-2)
			rows = append(rows, slices.Concat([]string{e.Name}, dashes, []string{e.Outcome}))
			continue
		}
		name, outcome := e.Name, e.Outcome
		for _, op := range e.Result.Judged() {
			row := []string{name, op.Name, format.Count(op.Requests), format.Success(op.Success, op.Requests),
				format.Rate(op.RatePerS)}
			if probed {
				row = append(row, report.Mbit(op))
			}
			if l := op.LatencyMS; l != nil {
				row = append(row, format.MS(l.P50), format.MS(l.P95), format.MS(l.P99), outcome)
			} else {
				row = append(row, format.None, format.None, format.None, outcome)
			}
			rows = append(rows, row)
			name, outcome = "", ""
		}
	}
	b.screen.Line("")
	for i, line := range format.Align(rows, func(column int) bool { return column >= 2 && column < len(head)-1 }) {
		verdict := rows[i][len(rows[i])-1]
		if i > 0 && verdict != "" {
			line = strings.TrimSuffix(line, verdict) + b.paint(verdict)
		}
		b.screen.Line("%s", strings.TrimRight(line, " "))
	}
	b.screen.Line("")
	for _, r := range reasons(set.Entries()) {
		b.screen.Line("%s", r)
	}
	b.screen.Line("verdict: %s", b.paint(set.Verdict()))
}

// reasons has a line per reason; scenarios with the same outcome for the same reason share one.
func reasons(entries []report.Entry) []string {
	var order []string
	names := map[string][]string{}
	for _, e := range entries {
		for _, why := range e.Reasons {
			text := e.Outcome + ": " + oneLine(why)
			if names[text] == nil {
				order = append(order, text)
			}
			names[text] = append(names[text], e.Name)
		}
	}
	for i, text := range order {
		order[i] = strings.Join(names[text], ", ") + ": " + text
	}
	return order
}

// paint colours an outcome on a terminal.
func (o Options) paint(outcome string) string {
	if !o.Color {
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
