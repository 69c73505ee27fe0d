// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/junit"
	"windtunnel/k6/internal/run"
)

func panelFixture(t *testing.T) Set {
	t.Helper()
	set, err := Load([]string{"testdata/panel"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestGoldenPanel(t *testing.T) {
	for name, options := range map[string]Options{"report-panel.md": {}, "report-panel-reference.md": {Reference: true}} {
		text, err := Markdown(panelFixture(t), options)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, text)
	}
	text, err := JUnit(panelFixture(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report-panel.xml", text)
}

// TestPageShowsWholeStatements has a statement that Markdown shortens and the page must not.
func TestPageShowsWholeStatements(t *testing.T) {
	set := panelFixture(t)
	page, err := HTML(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Markdown(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const end = "WHERE LOWER ( `users` . `username` ) = ? LIMIT ?"
	if !strings.Contains(string(page), end) || strings.Contains(string(text), "LIMIT") || !strings.Contains(string(text), "… | 1,102 |") {
		t.Error("the statement is cut where it must not be, or not where it must")
	}
	for _, part := range []string{`<p class="finding">Most of the wait is outside the route`, "<li>No component is named: database is",
		`<td>COMMIT</td>`, `<td class="long">SELECT`, "Is the data right?", "Where the time goes: Disable at 20/s", "Where the time goes: the whole run (Prometheus)"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// TestJUnitOfIntegrity has a check that failed and a check that could not run, in a failed run and in an interrupted
// run.
func TestJUnitOfIntegrity(t *testing.T) {
	for outcome, fails := range map[string]bool{run.Fail: true, run.Interrupted: false} {
		set := panelFixture(t)
		set.Run = &run.Run{Scenarios: []run.Scenario{{System: "panel", Scenario: "users-disable", Outcome: outcome}}}
		data, err := JUnit(set, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var suites junit.Suites
		if err := xml.Unmarshal(data, &suites); err != nil {
			t.Fatal(err)
		}
		of := func(name string) junit.Case {
			i := slices.IndexFunc(suites.Suites[0].Cases, func(c junit.Case) bool { return c.Name == name })
			if i < 0 {
				t.Fatalf("no case %s in\n%s", name, data)
			}
			return suites.Suites[0].Cases[i]
		}
		if wrong := of("integrity users disabled"); (wrong.Failure != nil) != fails || (wrong.Skipped != nil) == fails {
			t.Errorf("%s: %+v", outcome, wrong)
		}
		if unknown := of("integrity users in xray"); unknown.Skipped == nil {
			t.Errorf("%s: %+v", outcome, unknown)
		}
		if right := of("integrity users in all"); right.Failure != nil || right.Skipped != nil {
			t.Errorf("%s: %+v", outcome, right)
		}
	}
}
