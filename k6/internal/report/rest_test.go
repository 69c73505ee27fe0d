// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestASystemThatIsBusyAtRestIsNamed(t *testing.T) {
	quiet := &result.AtRest{CPUPercent: 0.1, WakeupsPerSec: 12.4}
	table := restTable(result.Result{Rest: []result.Rest{
		{Name: "client", Before: quiet, After: &result.AtRest{CPUPercent: 99.9, WakeupsPerSec: 3}},
		{Name: "server", Before: quiet},
	}})
	for i, want := range [][]string{{"client", "0.1", "12", "99.9", "3"}, {"server", "0.1", "12", "—", "—"}} {
		if !slices.Equal(table.Rows[i], want) {
			t.Error(table.Rows[i])
		}
	}
	if notes := strings.Join(table.Notes, " "); !strings.Contains(notes, "client takes 20 % of a CPU or more at rest") {
		t.Error(notes)
	}
	if table := restTable(result.Result{}); len(table.Rows) != 0 || len(table.Notes) != 0 {
		t.Error("a table of nothing")
	}
}
