// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestThePageHasTheVerdictTheIntervalsAndEscapedTexts(t *testing.T) {
	c := Make(idleRuns(20, 7, 1.3, 1))
	c.Notes = append(c.Notes, "<b>note</b>")
	dir := t.TempDir()
	if err := c.Write(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, HTMLName))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, wanted := range []string{`class="banner fail"`, " % more than pair", "is worse by more than 10 %", "While idle", "&lt;b&gt;note&lt;/b&gt;",
		"<caption>What was the same</caption>", "a pass needs each primary metric within"} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
	if drawn := strings.Count(page, `<circle class="interval`); drawn != len(c.intervals()) || drawn < 2 {
		t.Errorf("%d intervals are drawn, of %d", drawn, len(c.intervals()))
	}
	if strings.Contains(page, "Improvement:") || strings.Contains(page, "All scenarios") || strings.Contains(page, ">State<") {
		t.Error("a page of one scenario has texts of several")
	}
	if bad := strings.Count(page, `<circle class="interval bad"`); bad != 1 {
		t.Errorf("%d metrics are drawn as worse", bad)
	}
}

func TestAPageOfSeveralScenariosHasEach(t *testing.T) {
	same, more := Make(idleRuns(20, 7, 1, 1)), Make(idleRuns(20, 7, 1.3, 1))
	more.Scenario = "other"
	html, err := Set{[]Part{{"a", same}, {"b", more}}}.HTML()
	if err != nil {
		t.Fatal(err)
	}
	page := string(html)
	if !strings.Contains(page, "1 of 2 scenarios pass") || !strings.Contains(page, "All scenarios") || !strings.Contains(page, "Improvement:") ||
		!strings.Contains(page, `class="banner fail"`) || strings.Count(page, `class="pill pass"`) != 1 || strings.Count(page, `class="pill fail"`) != 1 {
		t.Error(page)
	}
}

func TestAMetricThatBreaksTheGateIsAlwaysShown(t *testing.T) {
	c := Make(idleRuns(20, 7, 1.3, 1))
	breaking, other := c.Metrics[slices.IndexFunc(c.Metrics, func(m Metric) bool { return m.Gate })], c.Metrics[0]
	other.Gate, other.Role = false, Primary
	c.Metrics = append(slices.Repeat([]Metric{other}, 40), breaking)
	if shown := c.forTerminal(); len(shown) != mostRows || !shown[0].Gate {
		t.Errorf("%d metrics, the first breaks the gate: %v", len(shown), shown[0].Gate)
	}
	html, err := Set{[]Part{{Comparison: c}}}.HTML()
	if err != nil || !strings.Contains(string(html), "The table has 17 more metrics.") {
		t.Error(err, string(html))
	}
}

func TestAHeadlineNamesWhatElseFails(t *testing.T) {
	leading := Metric{Name: "rate_per_s", Title: "rate", Role: Primary, Change: &Change{}, Outcome: "within", Judgement: NoneFound}
	c := Comparison{Verdict: Fail, Metrics: []Metric{leading}}
	for _, title := range []string{"p95", "p99", "CPU", "memory", "descriptors"} {
		c.Metrics = append(c.Metrics, Metric{Name: title, Title: title, Gate: true, Change: &Change{Estimate: 40}})
	}
	if got, want := c.headline(), "B is as fast as A (rate); worse: CPU +40.00%, memory +40.00%, descriptors +40.00% and 2 more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
