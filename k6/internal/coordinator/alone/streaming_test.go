// SPDX-License-Identifier: AGPL-3.0-only

package alone

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/run"
)

// sent returns what the coordinator of a part of a run streams.
func sent(t *testing.T, part Part, outcome string) string {
	t.Helper()
	var mu sync.Mutex
	var lines strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		text, _ := io.ReadAll(unpacked)
		lines.Write(text)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	j := &job{Options: Options{Options: bench.Options{Asked: plan.Asked{Profile: "quick", Environ: []string{"INFLUX=" + server.URL}}, RunID: "mine-1",
		Stdout: io.Discard, Stderr: io.Discard}, Part: part}, scenario: plan.Scenario{System: "pulsar", Name: "concurrent"}, redactor: redact.New(nil),
		record: run.Run{Start: time.Now(), Scenarios: []run.Scenario{{System: "pulsar", Scenario: "concurrent", Outcome: outcome}}}}
	j.openStream()
	j.closeStream(run.ExitCode(outcome))
	if !j.record.Streamed || len(j.record.Notes) > 0 {
		t.Error(j.record)
	}
	mu.Lock()
	defer mu.Unlock()
	return lines.String()
}

func TestTheFirstTellsThatTheRunBeganAndTheLastHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		part       Part
		outcome    string
		start, end bool
		verdict    string
	}{
		"alone":                 {Part{After: NoneBefore}, run.Pass, true, true, "pass"},
		"first of several":      {Part{After: NoneBefore, More: true}, run.Pass, true, false, ""},
		"in the middle":         {Part{After: exit.Pass, More: true}, run.Pass, false, false, ""},
		"last, all passed":      {Part{After: exit.Pass}, run.Pass, false, true, "pass"},
		"last, one failed":      {Part{After: exit.Fail}, run.Pass, false, true, "fail"},
		"last, one was no such": {Part{After: exit.Inconclusive}, run.Fail, false, true, "fail"},
	} {
		got := sent(t, c.part, c.outcome)
		if strings.Contains(got, "kind=run_start") != c.start || strings.Contains(got, "kind=run_end") != c.end {
			t.Errorf("%s: %s", name, got)
		}
		if c.end && !strings.Contains(got, `title="mine-1: `+c.verdict+`"`) {
			t.Errorf("%s: not %s: %s", name, c.verdict, got)
		}
		if !strings.Contains(got, "kind=scenario") || !strings.Contains(got, `verdicts,`) {
			t.Errorf("%s: no verdict of the scenario: %s", name, got)
		}
	}
}
