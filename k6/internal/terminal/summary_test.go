// SPDX-License-Identifier: AGPL-3.0-only

package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
)

// summaryAt returns the summary, at a terminal width, of a scenario with one operation and a long reason.
func summaryAt(width int, tty bool) []string {
	var out strings.Builder
	screen := New(&out, &out, tty, false, width)
	rate, bytes := 199.5, 6696.0
	set := report.Set{Results: []result.Result{{
		Run: result.Run{System: "dataplane", Scenario: "throughput"}, Verdict: "fail",
		Operations: []result.Operation{{Name: "both_1024k_x8", Requests: 2000, Success: 2000, RatePerS: &rate,
			Transfer: &result.Transfer{MbitPerS: &bytes}}},
		Reasons: []result.Reason{{Count: 24, Text: "up_1k_x1 and 23 more operations: 63 × connection_refused: " +
			"nothing accepted the connection: the target is down or died in mid-run"}},
	}}}
	screen.Summary(set)
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestSummaryFitsTheTerminal(t *testing.T) {
	for _, width := range []int{80, 120} {
		lines := summaryAt(width, true)
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
	narrow := strings.Join(summaryAt(80, true), "\n")
	for _, want := range []string{"\ndataplane/throughput  fail\n  both_1024k_x8", "63 ×\n    connection_refused: nothing accepted the connection: the target is down or\n    died in mid-run\n"} {
		if !strings.Contains(narrow, want) {
			t.Errorf("no %q in\n%s", want, narrow)
		}
	}
	if wide := summaryAt(120, true); !strings.HasPrefix(wide[1], "dataplane/throughput  both_1024k_x8") {
		t.Errorf("%q", wide)
	}
}

func TestSummarySaysWhereTheCPUOfTheSystemWentWhereThatIsKnown(t *testing.T) {
	var out strings.Builder
	known := result.Result{Run: result.Run{System: "dataplane", Scenario: "socks-tcp"}, Verdict: "pass"}
	unknown := known
	unknown.Run.Scenario = "queue-sweep"
	known.CPU = &result.WindowCPU{WindowS: 9, QuietS: 1, SystemS: 2, QuietSystemS: 2}
	New(&out, &out, false, false, 80).Summary(report.Set{Results: []result.Result{known, unknown}})
	const want = "CPU OF THE SYSTEM     TOTAL  MEASURED PARTS       BETWEEN    1 S OF QUIET\n" +
		"dataplane/socks-tcp  2.00 s    0.00 s (0 %)  0.00 s (0 %)  2.00 s (100 %)\n\n"
	if text := out.String(); !strings.Contains(text, want) {
		t.Error(text)
	}
}

func TestSummaryOfAFileIsAsWideAsItIs(t *testing.T) {
	lines := summaryAt(80, false)
	if !strings.HasPrefix(lines[1], "dataplane/throughput  both_1024k_x8") || !strings.HasSuffix(lines[3], "died in mid-run") {
		t.Errorf("%q", lines)
	}
}
