// SPDX-License-Identifier: AGPL-3.0-only

package comment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/testsupport/madeup"
)

// TestDoubtOfARun gives reasons as k6/internal/judge writes them.
func TestDoubtOfARun(t *testing.T) {
	decides := result.Reason{Kind: "noise", Text: "trojan: CPU: undecided after 6 turns (104 % of the baseline, 91 % to 118 %); about 14 turns would decide: TURNS=14", Count: 1}
	undecidable := result.Reason{Kind: "noise", Text: "trojan: CPU: undecided after 6 turns; more turns would not help: use a quieter machine", Count: 1}
	busy := result.Reason{Kind: result.Machine, Text: "neighbours: others used 40 % of a CPU", Count: 1}
	both := result.Reason{Kind: "noise", Text: undecidable.Text + " (and 1 more row)", Count: 2, All: []string{undecidable.Text, decides.Text}}
	for name, c := range map[string]struct {
		reasons []result.Reason
		want    string
	}{
		"a disturbed machine":         {[]result.Reason{busy}, compare.TooNoisy},
		"no number of turns decides":  {[]result.Reason{undecidable}, compare.TooNoisy},
		"turns decide":                {[]result.Reason{busy, decides}, compare.TooLittleTime},
		"turns decide what is folded": {[]result.Reason{both}, compare.TooLittleTime},
		"too few samples":             {[]result.Reason{{Kind: "samples", Text: "rtt: 40 samples carry no P99", Count: 1}}, compare.TooLittleTime},
		"no row was measured":         {[]result.Reason{decides, {Kind: "empty", Text: "no row was measured", Count: 1}}, compare.IsMissing},
		"a row did not run":           {[]result.Reason{busy, {Kind: "row", Text: "trojan: candidate: no start", Count: 1}}, compare.IsMissing},
		"a target was not measured":   {[]result.Reason{{Kind: "target", Text: "trojan: CPU was not measured on the candidate", Count: 1}}, compare.IsMissing},
		"a figure is missing":         {[]result.Reason{decides, {Kind: "noise", Text: "trojan: the candidate has no figure of memory", Count: 1}}, compare.IsMissing},
		"a probe ended early":         {[]result.Reason{busy, {Kind: "probe", Text: "rtt: the probe ended early", Count: 1}}, compare.IsMissing},
		"no reason":                   {[]result.Reason{}, compare.IsMissing},
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := told(t, c.reasons, nil)
			conclusion := "neutral"
			if c.want == compare.IsMissing {
				conclusion = "failure"
			}
			marker := fmt.Sprintf("<!-- windtunnel gate inconclusive-%s %s -->\n", strings.ReplaceAll(c.want, " ", "-"), conclusion)
			if !strings.HasPrefix(text, marker) || !strings.Contains(text, "cannot tell: "+c.want+"\n") {
				t.Errorf("want %s:\n%s", c.want, text[:200])
			}
		})
	}
	t.Run("no check could be made", func(t *testing.T) {
		if text, _ := told(t, []result.Reason{busy}, func(r *result.Result) { r.Validity = []result.Validity{} }); !strings.Contains(text, compare.IsMissing) {
			t.Error(text[:200])
		}
	})
}

// told returns the comment of an inconclusive run with these reasons, and its verdict file.
func told(t *testing.T, reasons []result.Reason, change func(*result.Result)) (text, verdict string) {
	t.Helper()
	root := t.TempDir()
	folder := madeup.Run(t, root, "run", 1, 1, func(r *result.Result) {
		r.Verdict = result.Inconclusive
		for i := range reasons {
			reasons[i].Role = "consequence"
		}
		r.Reasons = reasons
		if change != nil {
			change(r)
		}
	})
	file := filepath.Join(root, "verdict")
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, Options{Name: "gate", Paths: []string{folder}, Verdict: file, Code: exit.Inconclusive, Dir: root}, ""); code != exit.Pass {
		t.Fatalf("ends with %d: %s", code, &stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), string(data)
}

func TestVerdictIsWritten(t *testing.T) {
	_, verdict := told(t, []result.Reason{{Kind: result.Machine, Text: "neighbours", Count: 1}}, nil)
	if want := "verdict=inconclusive\ndoubt=too noisy\nconclusion=neutral\ncode=3\n"; verdict != want {
		t.Errorf("%q, want %q", verdict, want)
	}
}
