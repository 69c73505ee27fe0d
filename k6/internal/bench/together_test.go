// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"strings"
	"testing"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/redact"
)

func TestNoSecretIsInARunnersDashboard(t *testing.T) {
	j := job{scenario: plan.Scenario{System: "pulsar", Name: "concurrent"}, dir: t.TempDir()}
	page := j.dashboardOf(2)
	if err := os.WriteFile(page, []byte("<p>the secret-of-this-test</p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	all := together{child: children.K6{Redactor: redact.New([]string{"secret-of-this-test"})}}
	b := &session{Options: Options{Asked: plan.Asked{Runners: 2}}}
	if err := b.writeTogether(j, all, coordinator.New(coordinator.Config{Runners: 2})); err == nil {
		t.Error("there is a result without a record")
	}
	text, err := os.ReadFile(page)
	if err != nil || strings.Contains(string(text), "secret-of-this-test") {
		t.Errorf("%q %v", text, err)
	}
}

func TestTheRunnerThatFindsTheLimitEndsTheOthersAsPlanned(t *testing.T) {
	const why = "runner 1 of 2: its load ended before its time: all are stopped"
	found, stopped, broke := ended{code: exit.Fail}, ended{code: externallyAborted, message: why}, ended{code: scriptException, message: "x"}
	for name, c := range map[string]struct {
		all      []ended
		forLimit bool
		want     int
	}{
		"the limit was found":    {[]ended{found, stopped}, true, exit.Pass},
		"no limit was asked for": {[]ended{found, stopped}, false, externallyAborted},
		"none was found":         {[]ended{stopped, stopped}, true, externallyAborted},
		"one broke":              {[]ended{found, broke, stopped}, true, scriptException},
	} {
		if got := worstOf(c.all, why, c.forLimit); got.code != c.want {
			t.Errorf("%s: code %d, want %d", name, got.code, c.want)
		}
	}
}
