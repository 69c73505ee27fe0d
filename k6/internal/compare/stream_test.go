// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/influx"
)

func TestAJudgementIsOnePoint(t *testing.T) {
	c := Comparison{ID: "c1", Profile: "quick", System: "panel", Scenario: "mixed", Verdict: Fail, Headline: "B is slower", Reasons: []string{"P95", "P99"},
		A: Side{Spec: "one", Runs: make([]SideRun, 3)}, B: Side{Spec: "two", Runs: make([]SideRun, 2)}, Made: time.UnixMilli(5000)}
	var b influx.Batch
	c.point(&b)
	got := strings.TrimSpace(b.Lines())
	want := "comparisons,profile=quick,scenario=mixed,system=panel,testid=c1 " +
		`a="one",b="two",headline="B is slower",pairs=2i,reasons="P95` + "\n" + `P99",verdict="fail" 5000`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
