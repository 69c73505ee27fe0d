// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestTheProcessesTableSaysWhereTheCPUOfTheSystemWent(t *testing.T) {
	r := result.Result{Processes: []result.Process{{Name: "proxy", Role: "system", CPUS: 1}}}
	if notes := processesTable(r).Notes; len(notes) != 0 {
		t.Error(notes)
	}
	r.CPU = &result.WindowCPU{WindowS: 9, QuietS: 2, SystemS: 4, QuietSystemS: 2}
	text, err := Markdown(Set{Results: []result.Result{r}}, Options{})
	const want = "- CPU of the system over the load and 2 s of quiet after it: 4.00 s, of which 1.00 s (25 %) in the measured parts, 1.00 s (25 %) between them, 2.00 s (50 %) in the quiet period.\n"
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v: no %q in\n%s", err, want, text)
	}
}

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
	if notes := strings.Join(table.Notes, " "); !strings.Contains(notes, "client uses 20 % of a CPU or more while idle") {
		t.Error(notes)
	}
	if table := restTable(result.Result{}); len(table.Rows) != 0 || len(table.Notes) != 0 {
		t.Error("a table of nothing")
	}
}
