// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"bytes"
	"strings"
	"testing"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/record"
)

type vu struct {
	modules.VU
	rt *sobek.Runtime
}

func (v vu) Runtime() *sobek.Runtime { return v.rt }

// script runs a script with the module's exports as globals.
func script(t *testing.T, text string) (sobek.Value, error) {
	t.Helper()
	rt := sobek.New()
	for name, value := range exports(vu{rt: rt}) {
		if err := rt.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return rt.RunString(text)
}

func says(t *testing.T, text string) string {
	t.Helper()
	value, err := script(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return value.String()
}

const declared = `const declared = {
  operations: [{ name: 'send', title: 'Send', loop: 'closed', latency_is: 'x', items: undefined, bounds: { 'p(95)': 5, errors: undefined } }],
  plan: { iterations: undefined, seconds: 30 }, steps: undefined,
};
`

func TestAScriptGetsItsThresholds(t *testing.T) {
	want := `{"operation_items{operation:send}":["count>=1"],"operation_ms{operation:send}":["p(95)<5"]}`
	if got := says(t, declared+`JSON.stringify(thresholds(declared))`); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

const evidence = declared + `const evidence = {
  ...declared, run: { system: 'pulsar', scenario: 'ingest' }, headline: undefined, load_s: 12, counts: { iterations: 3, dropped_iterations: 0 },
  silent_ms: 10000, usage: null, cpus: [], placement: undefined, rest_before: null, rest_after: null, leftovers: '', facts: undefined,
  notes: ['mine'], sections: [{ name: 'own', title: 'Own', columns: [{ name: 'n', title: 'N', unit: 'count' }], rows: [[undefined], [{ value: 2, low: 1, high: NaN }]] }],
};
`

func TestAScriptGetsItsResultAndTheRecord(t *testing.T) {
	if got := says(t, evidence+`const { result } = judge(evidence);
const read = JSON.parse(result);
[read.schema, read.run.scenario, read.verdict, read.notes, JSON.stringify(read.sections[0].rows), result.endsWith('\n')].join()`); got != `windtunnel.result/2,ingest,inconclusive,mine,[[null],[{"value":2,"low":1,"high":null}]],true` {
		t.Error(got)
	}
	if got := says(t, evidence+`judge(evidence).text`); !strings.Contains(got, "pulsar/ingest") ||
		!strings.Contains(got, "\nOperation  Requests  Success  Rate /s  Avg ms  P50 ms  P95 ms  P99 ms\nsend              0    0 (—)") || !strings.Contains(got, "complete: 12.0 s of 30.0 s: ended early") {
		t.Error(got)
	}
	value, err := script(t, evidence+`recordOf(evidence)`)
	if err != nil {
		t.Fatal(err)
	}
	buffer, ok := value.Export().(sobek.ArrayBuffer)
	if !ok {
		t.Fatalf("%T", value.Export())
	}
	_, said, err := record.Read(bytes.NewReader(buffer.Bytes()), int64(len(buffer.Bytes())))
	if err != nil || !strings.Contains(string(said), `"notes":["mine"]`) {
		t.Error(string(said), err)
	}
}

func TestAFieldThatTheJudgeDoesNotKnowIsAnExceptionThatNamesIt(t *testing.T) {
	for text, field := range map[string]string{
		declared + `thresholds({ ...declared, setps: 1 })`:                                              `unknown field "setps"`,
		declared + `declared.operations[0].againstControl = true; thresholds(declared)`:                 `unknown field "againstControl"`,
		evidence + `judge({ ...evidence, load: 1 })`:                                                    `unknown field "load"`,
		evidence + `judge({ ...evidence, facts: [{ check: 'x', reportd: 1 }] })`:                        `unknown field "reportd"`,
		evidence + `judge({ ...evidence, sections: [{ name: 'own', colums: [] }] })`:                    `unknown field "colums"`,
		evidence + `judge({ ...evidence, sections: [{ name: 'own', columns: [], rows: [[1]] }] })`:      "section own: row 1 has 1 cells for 0 columns",
		evidence + `judge({ ...evidence, sections: [{ columns: [], rows: [[{ figur: 'p50_ms' }]] }] })`: `unknown field "figur"`,
		evidence + `judge({ ...evidence, cpus: [{ at_unix_ms: 1 }], run: { start: 'yesterday' } })`:     "run: ",
	} {
		_, err := script(t, text)
		if err == nil || !strings.Contains(err.Error(), ImportPath) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	// The sidecar's answer may have fields that the judge does not know.
	if got := says(t, evidence+`evidence.usage = { duration_s: 2, host: { cpus: 2, busy_percent: 1, more: 1 }, processes: [], total: {}, new: 1 };
JSON.parse(judge(evidence).result).verdict`); got != "inconclusive" {
		t.Error(got)
	}
}

func TestWhatAScriptAsksWhileItRuns(t *testing.T) {
	for text, want := range map[string]string{
		`[carries(0.95, 19), carries(0.95, 20)].join()`: "false,true",
		`JSON.stringify(disturbances([{ cpu: 1, span_s: 2, busy_s: 2, others_s: 0.9, steal_s: 0 }], { probe_cpus: '1', echo_cpus: '', system_cpus: '' }))`: `[{"cpu":1,"others_percent":45,"steal_percent":0}]`,
		`JSON.stringify(disturbances([], undefined))`: `[]`,
		`JSON.stringify(undecided([
  { row: 'a', baseline: { outcome: 'measured' }, comparison: [{ judged: 'met' }] },
  { row: 'b', baseline: { outcome: 'measured', figures: { x: null } }, comparison: [{ judged: 'uncertain', bound: null, to_decide: 3 }] },
]))`: `[1]`,
	} {
		if got := says(t, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
