// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/operations"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

const reasonsMost = 5

// Text is the short summary of a single `k6 run`; k6 x report prints the whole result.
func (j Judged) Text() string {
	var run struct{ System, Scenario, Profile, Environment string }
	_ = json.Unmarshal(j.Run, &run)
	rows := [][]string{append([]string{"Operation"}, operations.Screen(operations.Usual)...)}
	for _, op := range j.Operations {
		rows = append(rows, append([]string{op.Name}, operations.Row(operations.Usual, op)...))
	}
	lines := []string{"", fmt.Sprintf("%s/%s (%s) on %s: %s", run.System, run.Scenario, run.Profile, run.Environment, j.Verdict)}
	lines = append(lines, format.Align(rows, func(column int) bool { return column > 0 })...)
	if text := j.CPU.Text(j.Processes); text != "" {
		lines = append(lines, "  · "+text)
	}
	if text := j.Held.Text(); text != "" {
		lines = append(lines, "  · "+text)
	}
	for _, text := range firstReasons(j.Reasons) {
		lines = append(lines, "  ! "+text)
	}
	if len(j.Repeated) > 0 {
		lines = append(lines, "  · "+repeatedLine(j.Repeated))
	}
	if j.Connections != nil {
		lines = append(lines, "  · "+j.Connections.Text())
	}
	for _, note := range j.Notes {
		lines = append(lines, "  · "+note)
	}
	return strings.Join(append(lines, ""), "\n")
}

func firstReasons(reasons []result.Reason) []string {
	texts := result.Texts(reasons)
	if len(texts) <= reasonsMost {
		return texts
	}
	return append(texts[:reasonsMost-1:reasonsMost-1], fmt.Sprintf("and %d more: the result has them", len(texts)-reasonsMost+1))
}

func repeatedLine(repeated []result.Repeated) string {
	parts, more := "1 part was", ""
	if n := len(repeated); n > 1 {
		parts, more = fmt.Sprintf("%d parts were", n), fmt.Sprintf(" and %d more", n-1)
	}
	line := fmt.Sprintf("%s measured again because other programs used the CPUs: %s%s", parts, repeated[0].Part, more)
	still := seq.Count(repeated, func(r result.Repeated) bool { return !r.Settled })
	if still > 0 {
		line += fmt.Sprintf("; %d of them disturbed to the end", still)
	}
	return line
}
