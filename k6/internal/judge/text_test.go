// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestASingleK6RunPrintsFiveLinesOfReasonsAtMost(t *testing.T) {
	lines := func(count int) (shown []string) {
		j := Judged{Run: json.RawMessage(`{"system":"s","scenario":"x","profile":"smoke","environment":"local"}`), Result: result.Result{Verdict: result.Fail}}
		var all []reason
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			all = append(all, reason{kind: "row", name: name, text: name + " broke"})
		}
		j.Reasons = fold(all)[:count]
		for line := range strings.Lines(j.Text()) {
			if strings.HasPrefix(line, "  !") {
				shown = append(shown, strings.TrimSuffix(line, "\n"))
			}
		}
		return shown
	}
	if got := lines(7); len(got) != 5 || got[3] != "  ! d broke" || got[4] != "  ! and 3 more: the result has them" {
		t.Errorf("%q", got)
	}
	if got := lines(5); len(got) != 5 || got[4] != "  ! e broke" {
		t.Errorf("%q", got)
	}
}

func TestTheTableOfASingleRun(t *testing.T) {
	e := complete()
	e.Run, e.Notes = json.RawMessage(`{"system":"pulsar","scenario":"ingest","profile":"smoke","environment":"local"}`), []string{"a note"}
	want := `
pulsar/ingest (smoke) on local: pass
Operation  Requests       Success  Rate /s  Avg ms  P50 ms  P95 ms  P99 ms
send          1,000  1,000 (100%)    500.0    5.00    4.00    10.0    20.0
  · a note
`
	if got := judged(t, e, sent(1000, 0)).Text(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	again := judged(t, e, sent(1000, 0))
	again.Repeated = []result.Repeated{{Part: "send, round 2", Times: 1, Settled: true}}
	if got := again.Text(); !strings.Contains(got, "\n  · 1 part was measured again because other programs used the CPUs: send, round 2\n  · a note\n") {
		t.Error(got)
	}
}
