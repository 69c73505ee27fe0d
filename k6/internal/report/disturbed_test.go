// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestWhatWasMeasuredAgainIsNamedWithItsReason(t *testing.T) {
	cpu := 1
	taken := []result.Disturbance{{CPU: &cpu, OthersPercent: 43.1, StealPercent: 0.4}}
	table := repeatedTable(result.Result{Repeated: []result.Repeated{
		{Part: "tcp, round 2", Times: 1, ThrownAwayS: 0.25, DisturbedBy: taken, Settled: true},
		{Part: "tcp, round 4", Times: 2, ThrownAwayS: 0.5, DisturbedBy: taken},
	}})
	why := "CPU 1: 43.1% used by others, 0.4% taken by the hypervisor"
	want := [][]string{
		{tickOK, "tcp, round 2", "once", "0.25", why},
		{tickBad, "tcp, round 4", "2 times", "0.50", why},
	}
	for i, row := range want {
		if !slices.Equal(table.Rows[i], row) {
			t.Errorf("row %d is %q, want %q", i, table.Rows[i], row)
		}
	}
	if len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "tcp, round 4 was disturbed each time") {
		t.Errorf("notes are %q", table.Notes)
	}
}

func TestDisturbedSecondsAreNamedOnce(t *testing.T) {
	var r result.Result
	for _, second := range []int{4, 3, 3, 9, 5} {
		r.Disturbed = append(r.Disturbed, result.Disturbed{Second: second})
	}
	want := []string{"Other programs used the CPUs in 4 of the run's seconds (the first second is 0): 3–5, 9"}
	if got := disturbedSeconds(r); !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
	if got := disturbedSeconds(result.Result{}); got != nil {
		t.Errorf("said %q of nothing", got)
	}
}
