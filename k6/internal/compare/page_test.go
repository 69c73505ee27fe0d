// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"os"
	"path/filepath"
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
	if !strings.Contains(page, `class="banner fail"`) || strings.Count(page, `class="pill pass"`) != 1 || strings.Count(page, `class="pill fail"`) != 1 {
		t.Error(page)
	}
}
