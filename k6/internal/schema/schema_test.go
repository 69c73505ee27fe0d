// SPDX-License-Identifier: AGPL-3.0-only

package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestField(t *testing.T) {
	for want, location := range map[string][]string{
		"":                  nil,
		"a.b[3].c":          {"a", "b", "3", "c"},
		`a["b c"].d`:        {"a", "b c", "d"},
		`thresholds.p(95)`:  {"thresholds", "p(95)"},
		`a[""]`:             {"a", ""},
		`operations[0].x-y`: {"operations", "0", "x-y"},
	} {
		if got := Field(location); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestADocumentOfAnotherFormHasOneProblem(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema": "windtunnel.result/1", "components": []}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "schema: it is windtunnel.result/1, and this Windtunnel reads windtunnel.result/2: measure again, or take the Windtunnel that wrote it"
	if got := Check(Result, doc); len(got) != 1 || got[0].String() != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestAPartMayBeDisturbedOnAllCPUsTogether(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema": "windtunnel.result/2", "repeated": [{"part": "tcp", "times": 1,
		"thrown_away_s": 0.2, "disturbed_by": [{"cpu": null, "others_percent": 40, "steal_percent": 0}], "settled": true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Check(Result, doc) {
		if strings.Contains(p.String(), "repeated") {
			t.Error(p)
		}
	}
}

func TestResultProblems(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema": "windtunnel.result/2", "run": {"id": "a b", "start": "yesterday"},
		"operations": [{"requests": -1, "latency_ms": 3}], "sections": [{"name": "Time", "columns": [{"unit": 7}], "rows": [[[1]], [{"value": 1}]]}], "integrity": [{"source": "SQL"}], "processes": [], "thresholds": {}, "validity": [],
		"notes": [1], "verdict": "passed"}`))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range Check(Result, doc) {
		lines = append(lines, p.String())
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		`run.start: "yesterday" is not a date-time`,
		`run.id: "a b" does not match`,
		`run.profile: missing; add it: one of smoke, quick`,
		`operations[0].requests: -1 is too small, the least is 0`,
		`operations[0].latency_ms: is a number, must be an object or null`,
		`sections[0].title: missing; add it`,
		`sections[0].name: "Time" does not match`,
		`sections[0].columns[0].unit: is a number, must be a string`,
		`sections[0].rows[0][0]: is an array, must be `,
		`sections[0].rows[1][0].low: missing; add it`,
		`integrity[0].source: "SQL" is not one of sql, api`,
		`thresholds: is an object, must be an array`,
		`notes[0]: is a number, must be a string`,
		`verdict: "passed" is not one of pass, fail, inconclusive; did you mean pass?`,
		`reasons: missing; add it`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !slices.IsSorted(lines) {
		t.Errorf("not in order:\n%s", text)
	}
}
