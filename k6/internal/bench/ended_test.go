// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testsupport/busy"
)

func TestASetUpFailsForASystemThatWasKilledForMemory(t *testing.T) {
	for limits, outcome := range map[string]string{"LIMITS=memory:64mib": "refused fail", "LIMITS=": "refused set-up failed: set_up"} {
		tr := newTrial(t, "local", "pulsar/refused", limits)
		Run(tr.Options)
		if got := tr.outcomes(t); got != outcome {
			t.Errorf("%s: outcomes %q", limits, got)
		}
		if told := strings.Contains(tr.out.String(), "killed for memory 1 time at memory:64mib: "); told != (outcome == "refused fail") {
			t.Errorf("%s: %s", limits, tr.out)
		}
	}
}

func TestK6IsStoppedWhenAProcessOfTheTestbedEnds(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/slow", "FAKE_SIDECAR=dies")
	code := make(chan int)
	go func() { code <- Run(tr.Options) }()
	eventually(t, "k6 runs", tr.k6Runs)
	if err := os.WriteFile(tr.events+".dies", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-code: // the fixture's verdict is inconclusive, and the sleep of 60 s was cut
		if got != exit.Inconclusive {
			t.Errorf("code %d\n%s%s", got, tr.out, tr.err)
		}
	case <-busy.After(t.Context(), 30*time.Second):
		t.Fatal("k6 was not stopped")
	}
	want(t, tr.err.String(), "pulsar/slow: relay of testbed pulsar-relay ended unexpectedly (signal 9), ", " s after k6 had started: stopping k6")
	want(t, tr.text(t, "results/test/logs/pulsar-slow.k6.log"), "teardown ran")
	if got := tr.outcomes(t); got != "slow inconclusive" {
		t.Errorf("outcomes %q", got)
	}
}
