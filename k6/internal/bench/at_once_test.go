// SPDX-License-Identifier: AGPL-3.0-only

package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/testsupport/busy"
)

// meets gives the checkout the scenario dataplane/meets, whose loads begin together. The set-up of side B fails in its second pair.
func meets(t *testing.T, d *bench.Dataplane, sleepS string) {
	t.Helper()
	withUsers(t, d)
	text := strings.NewReplacer("iterations: 1 }", "iterations: 1, ext: { windtunnel: { at_once: true } } }", "'create'", "'meets'",
		"handleSummary(data) {", "handleSummary(data) {\n  if (!data.setup_data) return {};",
		"export default function () {}", `import { sleep } from 'k6';
import { meet } from 'k6/x/windtunnel/barrier';
export function setup() {
  if (__ENV.FAKE_TESTBED === 'other' && __ENV.RUN_ID.includes('pair02')) throw new Error('no users');
  if (!meet('begin')) throw new Error('alone');
  return {};
}
export default function () { sleep(`+sleepS+`); }`).Replace(read(t, filepath.Join(d.Root, "scripts/dataplane/create.js")))
	if err := os.WriteFile(filepath.Join(d.Root, "scripts/dataplane/meets.js"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d.RunID = "cmp"
}

// measured runs pairs of dataplane/meets.
func measured(t *testing.T, d *bench.Dataplane, pairs int) (a, b []compare.Measured) {
	t.Helper()
	_, all, code := compare.Measure(d.Options, "dataplane/meets", compare.Length{Pairs: pairs}, compare.Request{SpecA: "proxy", SpecB: "other", Beds: noBeds})
	if code != exit.Pass {
		t.Fatalf("code %d\n%s%s", code, d.Out, d.Err)
	}
	return all[0].A, all[0].B
}

func TestAFailedSetUpIsAFaultOfItsSideAlone(t *testing.T) {
	d := bench.NewDataplane(t)
	meets(t, d, "0")
	a, b := measured(t, d, 3)
	for i, want := range []string{"pass", run.Interrupted, "pass"} {
		if a[i].Outcome != want || a[i].Cause != "" {
			t.Errorf("pair %d: A: %s %s %v", i+1, a[i].Outcome, a[i].Cause, a[i].Reasons)
		}
	}
	if b[1].Outcome != run.SetupFailed || b[1].Cause != run.OfSetUp {
		t.Errorf("B: %s %s", b[1].Outcome, b[1].Cause)
	}
}

func TestTheEndOfASystemIsAFaultOfItsSideAlone(t *testing.T) {
	d := bench.NewDataplane(t, "FAKE_SIDECAR=dies")
	meets(t, d, "60")
	go func() {
		runs := func(side string) bool {
			log, _ := os.ReadFile(filepath.Join(d.Root, "results/cmp/pair01-"+side+"/logs/dataplane-meets.k6.log"))
			return strings.Contains(string(log), "running (") && strings.Contains(string(log), "default")
		}
		if busy.Until(time.Minute, func() bool { return runs("a") && runs("b") }) {
			_ = os.WriteFile(d.Events+".dies", []byte("other"), 0o644)
		}
	}()
	a, b := measured(t, d, 1)
	if a[0].Outcome != run.Interrupted {
		t.Errorf("A: %s %v", a[0].Outcome, a[0].Reasons)
	}
	if text := strings.Join(b[0].Reasons, "; "); b[0].Outcome == run.Interrupted || !strings.Contains(text, "relay of testbed other ended unexpectedly (signal 9)") {
		t.Errorf("B: %s %s", b[0].Outcome, text)
	}
}
