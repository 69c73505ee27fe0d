// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	_ "windtunnel/k6/modules/judge"
)

// records is a script that leaves only a record, with one section.
const records = `import { recordOf } from 'k6/x/windtunnel/judge';
export const options = { vus: 1, iterations: 1 };
export default function () {}
export const handleSummary = () => ({
  [__ENV.RESULT_DIR + '/pulsar-records.record']: recordOf({
    operations: [{ name: 'send', title: 'Send', loop: 'closed', latency_is: 'x', bounds: {} }], plan: {},
    run: {
      id: __ENV.RUN_ID, start: '2026-01-02T03:04:05Z', end: '2026-01-02T03:04:06Z', duration_s: 1, system: 'pulsar', scenario: 'records',
      title: 'Records', profile: __ENV.PROFILE, environment: __ENV.ENV, target: 'http://127.0.0.1:1', parameters: {}, testbed: null, host: null, versions: {},
    },
    load_s: 1, counts: { iterations: 1, dropped_iterations: 0 }, silent_ms: 10000, usage: null, cpus: [], rest_before: null, rest_after: null,
    leftovers: '', notes: ['its password is ' + __ENV.PULSAR_PASSWORD], sections: [{ name: 'own', title: 'Own', columns: [{ name: 'n', title: 'N', unit: 'count' }], rows: ROWS }],
  }),
});
`

func TestTheBenchJudgesTheRecord(t *testing.T) {
	for rows, c := range map[string]struct {
		outcome string
		code    int
		says    string
	}{
		"[[1]]":    {"records inconclusive", exit.Inconclusive, "samples: send: 0 samples"},
		"[[1, 2]]": {"records set-up failed: bench", exit.Setup, "section own: row 1 has 2 cells for 1 columns"},
	} {
		tr := newTrial(t, "local", "pulsar/records")
		write(t, tr, "scripts/pulsar/records.js", strings.Replace(records, "ROWS", rows, 1))
		if code := Run(tr.Options); code != c.code {
			t.Errorf("%s: code %d, want %d\n%s%s", rows, code, c.code, tr.out, tr.err)
		}
		if got := tr.outcomes(t); got != c.outcome {
			t.Errorf("%s: outcomes %q", rows, got)
		}
		want(t, tr.out.String(), c.says)
		for _, name := range []string{"pulsar-records.record", "pulsar-records.json"} {
			text, err := os.ReadFile(filepath.Join(tr.Root, "results/test", name))
			if strings.Contains(string(text), fakeSecret) || (err != nil && c.code != exit.Setup) {
				t.Errorf("%s: %s: %v", rows, name, err)
			}
		}
	}
}
