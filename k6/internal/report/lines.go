// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/seq"
)

// linesMost is how many lines of reasons are above or below the results, unless more scenarios have a reason.
const linesMost = 5

// Line says in one sentence why scenarios did not pass. They all have the same outcome.
type Line struct {
	Names         []string
	Outcome, Text string
}

func (l Line) String() string { return strings.Join(l.Names, ", ") + ": " + l.Outcome + ": " + l.Text }

// Lines are the first reasons of each scenario: five in all, or one for each scenario if that is more. left is the
// number of other reasons. Scenarios with the same outcome and reason share a line.
func Lines(entries []Entry) (lines []Line, left int) {
	type ranked struct {
		Line
		place, rank int
	}
	var all []*ranked
	leading := 0
	for _, e := range entries {
		for rank, reason := range e.Reasons {
			text := strings.Join(strings.Fields(reason.Text), " ")
			i := slices.IndexFunc(all, func(r *ranked) bool { return r.Outcome == e.Outcome && r.Text == text })
			if i >= 0 {
				all[i].Names = append(all[i].Names, e.Name)
				continue
			}
			if rank == 0 {
				leading++
			}
			all = append(all, &ranked{Line{[]string{e.Name}, e.Outcome, text}, len(all), rank})
		}
	}
	if most := max(linesMost, leading); len(all) > most {
		kept := max(linesMost-1, leading)
		slices.SortStableFunc(all, func(a, b *ranked) int { return cmp.Compare(a.rank, b.rank) })
		left, all = len(all)-kept, all[:kept]
		slices.SortFunc(all, func(a, b *ranked) int { return cmp.Compare(a.place, b.place) })
	}
	return seq.Map(all, func(r *ranked) Line { return r.Line }), left
}

// More describes the reasons that Lines left out, "" if it left out none.
func More(left int) string {
	switch left {
	case 0:
		return ""
	case 1:
		return "and 1 more reason, in the scenario's section of the report"
	}
	return fmt.Sprintf("and %d more reasons, in the sections of the report", left)
}
