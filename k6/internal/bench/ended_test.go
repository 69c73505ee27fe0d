// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"testing"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testsupport/busy"
)

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
