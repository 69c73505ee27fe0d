// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func because(texts ...string) []result.Reason {
	var reasons []result.Reason
	for _, text := range texts {
		reasons = append(reasons, result.Reason{Text: text, Count: 1})
	}
	return reasons
}

func TestLinesAreFiveAtMost(t *testing.T) {
	many := make([]string, 103)
	for i := range many {
		many[i] = fmt.Sprintf("consequence %d", i)
	}
	lines, left := Lines([]Entry{{Name: "s/a", Outcome: "fail", Reasons: because(append([]string{"the cause"}, many...)...)}})
	if len(lines) != 4 || left != 100 || lines[0].String() != "s/a: fail: the cause" {
		t.Errorf("%v, and %d more", lines, left)
	}
	if lines, left = Lines([]Entry{{Name: "s/a", Outcome: "fail", Reasons: because("1", "2", "3", "4", "5")}}); len(lines) != 5 || left != 0 {
		t.Errorf("five fit: %v, and %d more", lines, left)
	}
}

func TestNoScenarioIsWithoutALine(t *testing.T) {
	var entries []Entry
	for i := range 7 {
		name := fmt.Sprintf("s/%d", i)
		entries = append(entries, Entry{Name: name, Outcome: "fail", Reasons: because("first of "+name, "second of "+name)})
	}
	lines, left := Lines(entries)
	if len(lines) != 7 || left != 7 {
		t.Fatalf("%v, and %d more", lines, left)
	}
	for i, line := range lines {
		if want := fmt.Sprintf("s/%d: fail: first of s/%d", i, i); line.String() != want {
			t.Errorf("%s, want %s", line, want)
		}
	}
	lines, left = Lines(entries[:2])
	if len(lines) != 4 || left != 0 || lines[1].Text != "second of s/0" {
		t.Errorf("those of a scenario stay together: %v", lines)
	}
}

func TestOneReasonOfSeveralScenariosIsOneLine(t *testing.T) {
	entries := []Entry{
		{Name: "s/a", Outcome: "set-up failed", Reasons: because("port\n taken")},
		{Name: "s/b", Outcome: "set-up failed", Reasons: because("port taken")},
		{Name: "s/c", Outcome: "fail", Reasons: because("port taken")},
	}
	lines, left := Lines(entries)
	want := []string{"s/a, s/b: set-up failed: port taken", "s/c: fail: port taken"}
	if len(lines) != 2 || left != 0 || lines[0].String() != want[0] || lines[1].String() != want[1] {
		t.Errorf("%v, and %d more", lines, left)
	}
}

// TestFoldedReasonsAreWholeInTheDetails: the banner has one sentence for all reasons of a kind, the section has each of
// them.
func TestFoldedReasonsAreWholeInTheDetails(t *testing.T) {
	folded := result.Reason{Role: "consequence", Kind: "threshold", Text: "up: P95 9 ms, at most 5 ms (and 1 more threshold)", Count: 2,
		All: []string{"up: P95 9 ms, at most 5 ms", "down: P95 8 ms, at most 5 ms"}}
	set := Set{Results: []result.Result{{Run: result.Run{System: "s", Scenario: "a"}, Verdict: "fail", Reasons: []result.Reason{folded}}}}
	page, err := HTML(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	banner, details, _ := strings.Cut(string(page), "</header>")
	if !strings.Contains(banner, folded.Text) || strings.Contains(banner, "down: P95") {
		t.Errorf("the banner: %s", banner[strings.Index(banner, "<header"):])
	}
	if !strings.Contains(details, "<details><summary>"+folded.Text+"</summary>") || !strings.Contains(details, "<li>down: P95 8 ms, at most 5 ms</li>") {
		t.Error("the section lacks one of those that are folded")
	}
	if strings.Index(details, ">Environment<") < strings.Index(details, folded.Text) {
		t.Error("Environment stands before the results")
	}
}

func TestReasonsOfBeforeTheyHadAKind(t *testing.T) {
	var reasons []result.Reason
	data := `["it is slow", {"role": "cause", "kind": "process", "text": "proxy ended", "count": 1}]`
	if err := json.Unmarshal([]byte(data), &reasons); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.Texts(reasons), []string{"it is slow", "proxy ended"}) || reasons[0].Count != 1 || reasons[1].Role != result.Cause {
		t.Errorf("%+v", reasons)
	}
}
