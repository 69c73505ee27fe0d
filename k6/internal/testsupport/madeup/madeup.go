// SPDX-License-Identifier: AGPL-3.0-only

// Package madeup writes runs with known figures, for tests of code that reads runs.
package madeup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// template is a result of pulsar/ingest; the path is relative to k6/.
const template = "internal/report/testdata/run/pulsar-ingest.json"

// Run writes the folder results/ID of a checkout and returns the folder. It is a run of pulsar/ingest that began the
// given number of days after a fixed day and is slower by factor. change, if not nil, makes further changes to the
// result.
func Run(t *testing.T, root, id string, day int, factor float64, change func(*result.Result)) string {
	t.Helper()
	// Tests run in their package's folder, two levels below k6/.
	r, err := result.Read(filepath.Join("..", "..", template))
	if err != nil {
		t.Fatal(err)
	}
	cubic, pinned := "cubic", int64(4096)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).AddDate(0, 0, day)
	r.Run.ID, r.Run.Start, r.Run.End = id, start, start.Add(time.Minute)
	r.Run.Host.Settings = &result.Settings{NetworkSettings: result.NetworkSettings{CongestionControl: &cubic, SOMaxConn: &pinned}}
	r.Run.Placement = &result.Placement{Name: "split", ProbeCPUs: "1", EchoCPUs: "1", SystemCPUs: "0", Wait: "block"}
	r.Operations = r.Operations[:1]
	factor *= 1 + 1e-9*float64(day) // makes the figures of all runs differ in the last digits
	op := &r.Operations[0]
	op.WindowS, op.RatePerS = op.WindowS*factor, new(*op.RatePerS/factor)
	l := op.LatencyMS
	for _, v := range []*float64{&l.Avg, &l.Min, l.P50, l.P90, l.P95, l.P99, l.P999, &l.Max} {
		*v *= factor
	}
	for i := range r.Processes {
		r.Processes[i].CPUS *= factor
	}
	if change != nil {
		change(&r)
	}
	folder := filepath.Join(root, "results", id)
	if err := os.MkdirAll(filepath.Join(folder, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	code := 0
	record := run.Run{Schema: run.Schema, ID: id, Profile: r.Run.Profile, Environment: r.Run.Environment, Start: start, End: &r.Run.End, ExitCode: &code,
		Scenarios: []run.Scenario{{System: r.Run.System, Scenario: r.Run.Scenario, Outcome: r.Verdict, ExitCode: &code, Result: "pulsar-ingest.json"}}}
	if err := record.Write(folder); err != nil {
		t.Fatal(err)
	}
	WriteResult(t, filepath.Join(folder, "pulsar-ingest.json"), r)
	return folder
}

// WriteResult writes a result file.
func WriteResult(t *testing.T, path string, r result.Result) {
	t.Helper()
	r.Schema = result.Schema
	data, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Read(path); err != nil {
		t.Fatal(err)
	}
}
