// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

// shown is a section from its JSON.
func shown(text string) (s result.Section) {
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return s
}

const columns = `"columns": [{"name": "what", "title": "What", "unit": "text"}, {"name": "much", "title": "Much", "unit": "ms"}]`

func TestASectionHasFiguresOfOperations(t *testing.T) {
	e := complete()
	e.Sections = []result.Section{shown(`{"name": "s", "title": "S", ` + columns + `, "rows": [
		["p50", {"operation": "send", "figure": "p50_ms"}], ["by itself", {"operation": "send", "figure": "p50_ms", "by": "send"}],
		["lost", {"operation": "send", "figure": "lost_share"}], ["own", 7], ["none", null]]}`)}
	j := judged(t, e, sent(1000, 0))
	text, err := json.Marshal(j.Sections[0].Rows)
	if err != nil {
		t.Fatal(err)
	}
	p50 := *j.Operations[0].LatencyMS.P50
	want, err := json.Marshal([][]any{{"p50", p50}, {"by itself", 1}, {"lost", 0}, {"own", 7}, {"none", nil}})
	if err != nil || string(text) != string(want) {
		t.Errorf("%s, want %s: %v", text, want, err)
	}
	if e.Sections[0].Rows[0][1].Of == nil {
		t.Error("the evidence was changed: a record could not be judged again")
	}
	if j := judged(t, e, sent(0, 0)); j.Sections[0].Rows[0][1].Value != nil || j.Sections[0].Rows[1][1].Value != nil {
		t.Error("there is a figure of nothing")
	}
}

func TestASectionThatIsNoTableIsAnError(t *testing.T) {
	for about, text := range map[string]string{
		"row 1 has 1 cells for 2 columns":   `{"name": "s", ` + columns + `, "rows": [["a"]]}`,
		"two columns a":                     `{"name": "s", "columns": [{"name": "a"}, {"name": "a"}], "rows": []}`,
		"only curves over numbers above 0":  `{"name": "s", ` + columns + `, "rows": [["a", 0]], "plot": {"kind": "curves", "x": "much", "y": ["much"], "log": true}}`,
		"only a course has a part below it": `{"name": "s", ` + columns + `, "rows": [], "plot": {"kind": "curves", "x": "what", "y": ["much"], "marks": "what"}}`,
		"2 columns below 1":                 `{"name": "s", ` + columns + `, "rows": [], "plot": {"kind": "course", "x": "much", "y": ["much"], "below": {"title": "T", "y": ["much", "much"]}}}`,
		"no column lost to plot":            `{"name": "s", ` + columns + `, "rows": [], "plot": {"kind": "course", "x": "much", "y": ["much"], "below": {"title": "T", "y": ["lost"]}}}`,
		"curves of text and of ms":          `{"name": "s", ` + columns + `, "rows": [], "plot": {"kind": "curves", "x": "much", "y": ["what", "much"]}}`,
		"no column wait to plot":            `{"name": "s", ` + columns + `, "rows": [], "plot": {"kind": "bars", "x": "what", "y": ["wait"]}}`,
		"no operation receive":              `{"name": "s", ` + columns + `, "rows": [["a", {"operation": "receive", "figure": "p50_ms"}]]}`,
		"no operation direct":               `{"name": "s", ` + columns + `, "rows": [["a", {"operation": "send", "figure": "p50_ms", "by": "direct"}]]}`,
		"no figure p51_ms":                  `{"name": "s", ` + columns + `, "rows": [["a", {"operation": "send", "figure": "p51_ms"}]]}`,
	} {
		e := complete()
		e.Sections = []result.Section{shown(text)}
		if _, err := judge(e, sent(1000, 0)); err == nil || !strings.Contains(err.Error(), "section s: "+about) {
			t.Errorf("%v, want %s", err, about)
		}
	}
}
