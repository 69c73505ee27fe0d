// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"strings"
	"testing"
)

func TestAnIntervalIsDrawnAtItsChangeAndCutAtTheEndOfTheScale(t *testing.T) {
	svg := string(DrawIntervals([]Interval{
		{Title: "rate", Text: "−5 %", Class: "bad", Estimate: -5, Low: -7, High: -3, Bound: -10},
		{Title: "memory", Text: "+900 %", Class: "bad", Estimate: 900, Low: 800, High: 1000, Bound: 10},
	}, 3))
	// The scale ends at 55 %: 550 is no change, and 300 units are 110 %.
	for _, wanted := range []string{`<circle class="interval bad" cx="536.4"`, `x1="530.9" y1="35.5" x2="541.8" y2="35.5"`, `<circle class="interval bad" cx="700.0"`, `x1="522.7"`} {
		if !strings.Contains(svg, wanted) {
			t.Errorf("%s lacks %s", svg, wanted)
		}
	}
	if !strings.Contains(svg, "The table has 3 more metrics.") {
		t.Error(svg)
	}
	for _, bound := range []float64{0, 10_000} {
		svg := string(DrawIntervals([]Interval{{Title: "rate", Estimate: 2, Low: 1, High: 3, Bound: bound}}, 0))
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "The table") || strings.Contains(svg, `class="mark"`) != (bound == 0) {
			t.Errorf("bound %g: %s", bound, svg)
		}
	}
	if DrawIntervals(nil, 3) != "" {
		t.Error("a chart without changes")
	}
}
