// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func sectionFrom(t *testing.T, text string) (s result.Section) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A section whose subject the report does not know.
const kettles = `{"name": "kettles", "title": "Kettles", "finding": "The blue one.", "notes": ["In the kitchen."], "headline": {"value": "1 of 2", "of": "kettles boil"},
	"columns": [{"name": "ok", "title": "", "unit": "ok"}, {"name": "kettle", "title": "Kettle", "unit": "text"}, {"name": "boils_s", "title": "Boils in", "unit": "s", "digits": 2},
		{"name": "noise", "title": "Noise", "unit": "dB"}, {"name": "cups", "title": "Cups", "unit": "count", "print": "none"}, {"name": "price", "title": "Price", "unit": "ratio", "print": "value"}],
	"rows": [[true, "blue", {"value": 1.5, "low": 1, "high": 2}, 61.25, 4, {"value": 0.5, "low": 0.4, "high": 0.6}], [null, "red", null, "loud", null, null]],
	"plot": {"kind": "bars", "x": "kettle", "y": ["boils_s", "noise"]}}`

func TestASectionIsPrintedWithoutKnowingIt(t *testing.T) {
	r := result.Result{Run: result.Run{System: "kitchen", Scenario: "kettles"}, Sections: []result.Section{sectionFrom(t, kettles)}}
	set := Set{Results: []result.Result{r}}
	text, err := Markdown(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "### Kettles\n\n|  | Kettle | Boils in (s) | Noise (dB) | Price |\n|---|---|---:|---:|---|\n" +
		"| ✓ | blue | 1.50 (1.00–2.00) | 61.2 | 50 % |\n| ? | red | — | loud | — |\n\n**The blue one.**\n\n- In the kitchen.\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("no\n%s\nin\n%s", want, text)
	}
	page, err := HTML(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`<td class="n">1.50 (1.00–2.00)</td>`, `<div class="number">1 of 2</div><div class="unit">kettles boil</div>`, "<title>Kettles</title>", "Boils in (s)"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

func TestCellsAreWrittenByTheirUnits(t *testing.T) {
	two := 2
	for _, c := range []struct {
		unit, cell, want string
		digits           *int
	}{
		{"text", `"a"`, "a", nil}, {"text", `16384`, "16,384", nil}, {"text", `true`, "✓", nil}, {"text", `null`, "—", nil}, {"text", `false`, "✗", nil},
		{"ok", `null`, "?", nil}, {"ok", `"plain"`, "plain", nil},
		{"count", `1234`, "1,234", nil}, {"count", `2.5`, "2.50", &two}, {"count", `"open loop"`, "open loop", nil},
		{"share", `0.125`, "12.5%", nil}, {"per_s", `1234.4`, "1,234", nil}, {"times", `3.21`, "3.2 ×", nil},
		{"ms", `1.2345`, "1.23", nil}, {"ms", `1.2345`, "1.23", &two}, {"ms", `{"value": 2, "low": 2, "high": 2.001}`, "2.00", nil}, {"ms", `{"value": 2, "low": null, "high": 3}`, "2.00", nil},
		{"Mbit/s", `5`, "5.000", nil}, {"MiB", `120.4`, "120", nil}, {"KiB", `1.26`, "1.3", nil}, {"s/GiB", `1.256`, "1.26", &two},
		{"ratio", `{"value": 0.97, "low": 0.91, "high": 1.04}`, "97 % (91–104 %)", nil}, {"ratio", `{"value": 576.66, "low": 540.2, "high": 610}`, "577 × (540 ×–610 ×)", nil},
		{"ratio", `{"value": 9.4, "low": 8.8, "high": 10.2, "significant": true}`, "940 % (880 %–10 ×) *", nil}, {"ratio", `{"value": null, "low": null, "high": null}`, "—", nil},
	} {
		var cell result.Cell
		if err := json.Unmarshal([]byte(c.cell), &cell); err != nil {
			t.Fatal(err)
		}
		if got := cellText(result.Column{Unit: c.unit, Digits: c.digits}, cell); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.cell, c.unit, got, c.want)
		}
	}
}

func TestATableOfTextsAloneIsNarrow(t *testing.T) {
	s := sectionFrom(t, `{"name": "s", "title": "S", "columns": [{"name": "a", "title": "A", "unit": "text"}, {"name": "b", "title": "B", "unit": "ratio"}], "rows": [["x", 1]]}`)
	if table := sectionTable(s); !table.Narrow() || !slices.Equal(table.Head, []string{"A", "B"}) {
		t.Errorf("%+v", table)
	}
}

func TestALineIsDrawnOverANumber(t *testing.T) {
	s := sectionFrom(t, `{"name": "s", "title": "Load & limit", "columns": [{"name": "rate", "title": "Rate", "unit": "per_s"}, {"name": "p95", "title": "P95", "unit": "ms"}],
		"rows": [[100, 1.5], [200, 6], [300, null], [null, 7]], "plot": {"kind": "line", "x": "rate", "y": ["p95"]}}`)
	svg := sectionCharts(result.Result{Sections: []result.Section{s, {Name: "not drawn"}}})
	if len(svg) != 1 {
		t.Fatal(svg)
	}
	// Twice the distance to the right, and four times the height.
	if !strings.Contains(svg[0], `<polyline class="stem" fill="none" points="231.0,149.5 400.0,28.0"/>`) || !strings.Contains(svg[0], "Load &amp; limit: P95 (ms)") {
		t.Error(svg[0])
	}
}

func TestCurvesShareOneChart(t *testing.T) {
	s := sectionFrom(t, `{"name": "s", "title": "Goodput", "columns": [{"name": "loss", "title": "Lost", "unit": "share"}, {"name": "a", "title": "one <1>", "unit": "Mbit/s"}, {"name": "b", "title": "two", "unit": "Mbit/s"}, {"name": "c", "title": "none", "unit": "Mbit/s"}],
		"rows": [[0, {"value": 40, "low": 30, "high": 50}, 40, null], [0.1, 20, null, null]], "plot": {"kind": "curves", "x": "loss", "y": ["a", "b", "c"]}}`)
	svg := sectionCharts(result.Result{Sections: []result.Section{s}})
	if len(svg) != 1 {
		t.Fatal(svg)
	}
	// The axis ends at 60, the next step of 20 over 50; the first row is in the middle of the left half.
	for _, want := range []string{
		`<g class="curve k0"><polyline points="191.0,120.0 457.0,210.0"/>`, `<line x1="191.0" y1="165.0" x2="191.0" y2="75.0"/>`,
		`<g class="curve k1"><polyline points="191.0,120.0"/>`, `>60</text>`, "one &lt;1&gt;: 40.0 (30.0–50.0)", "Goodput, Mbit/s",
	} {
		if !strings.Contains(svg[0], want) {
			t.Errorf("no %s in %s", want, svg[0])
		}
	}
	if strings.Contains(svg[0], ">none<") {
		t.Error("a column without a number has a curve")
	}
}

func TestCurvesOverLogarithms(t *testing.T) {
	s := sectionFrom(t, `{"name": "s", "title": "Scale", "columns": [{"name": "users", "title": "Users", "unit": "count"}, {"name": "a", "title": "first", "unit": "ms"}],
		"rows": [[1, 2], [100, 1], [1000, 2], [10000, 0]], "plot": {"kind": "curves", "x": "users", "y": ["a"], "log": true}}`)
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	svg := sectionCharts(result.Result{Sections: []result.Section{s}})
	// From 1 to 10,000 are four decades of 99.75, and half a row of 66.5 is at each side.
	for _, want := range []string{`<polyline points="124.5,30.0 324.0,165.0 42`, ` 523.5,300.0"/>`, `>10,000</text>`, `>Users, logarithmic</text>`} {
		if len(svg) != 1 || !strings.Contains(svg[0], want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
}

func TestACourseHasTheQueueBelowIt(t *testing.T) {
	s := sectionFrom(t, `{"name": "s", "title": "Outage <2 s>", "columns": [{"name": "at", "title": "After", "unit": "s"}, {"name": "mark", "title": "The link", "unit": "text"},
		{"name": "a", "title": "one", "unit": "Mbit/s"}, {"name": "b", "title": "none", "unit": "Mbit/s"}, {"name": "aq", "title": "queue", "unit": "KiB"}, {"name": "bq", "title": "queue, none", "unit": "KiB"}],
		"rows": [[-1, "", 8, null, 100, null], [0, "dead", 0, null, 0, null], [3, "back", 8, null, 50, null], [null, "lost", 9, null, 9, null]],
		"plot": {"kind": "course", "x": "at", "y": ["a", "b"], "below": {"title": "Queue", "y": ["aq", "bq"]}, "marks": "mark"}}`)
	svg := sectionCharts(result.Result{Sections: []result.Section{s}})
	if len(svg) != 1 {
		t.Fatal(svg)
	}
	// From -1 to 3, a second is a quarter of the width; 8 of 8 is at the top, 0 at the bottom, and 50 of 100 in the
	// middle of the lower part.
	for _, want := range []string{
		`<polyline points="58.0,48.0 191.0,230.0 590.0,48.0"><title>one</title>`, `<g class="curve k0"><polyline points="58.0,268.0 191.0,360.0 590.0,314.0">`,
		`<line class="mark" x1="191.0" y1="40.0" x2="191.0" y2="360.0"/>`, `>back</text>`, `>-1</text>`, `>0</text>`, "Outage &lt;2 s&gt;, Mbit/s", "Queue, KiB",
	} {
		if !strings.Contains(svg[0], want) {
			t.Errorf("no %s in %s", want, svg[0])
		}
	}
	for _, not := range []string{">none<", "lost", "NaN", ">-0<"} {
		if strings.Contains(svg[0], not) {
			t.Errorf("%s in %s", not, svg[0])
		}
	}
	s.Rows = s.Rows[:1]
	if svg := sectionCharts(result.Result{Sections: []result.Section{s}}); len(svg) != 0 {
		t.Error("one moment has a course")
	}
}

func TestNamesOfCurvesDoNotOverlap(t *testing.T) {
	for _, c := range []struct{ places, want []float64 }{
		{[]float64{50, 52, 100}, []float64{50, 64, 100}},
		{[]float64{100, 98}, []float64{100, 86}},
		{[]float64{30, 30, 30}, []float64{30, 44, 58}},
	} {
		if got := spread(c.places, 14, 30, 100); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.places, got, c.want)
		}
	}
}
