// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

func TestTheRunnersTable(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	r := result.Result{Runners: []result.Runner{
		{
			Number: 1, Segment: "0:1/2", Share: p(0.5001), CPUPercent: p(41.25), LateMS: p(0.212), StartOffsetMS: p(-0.4), ClockOffsetMS: p(3_600_000),
			Record: &result.RecordFile{File: "pulsar-ingest.runner-1.record", Bytes: 3 << 20, SHA256: "0123456789abcdef"}, OK: true,
		},
		{Number: 2, DroppedIterations: 7, Detail: "killed: signal 9"},
	}}
	table := runnersTable(r, &run.Coordinator{Program: "k6 x coordinate", CPUS: 0.25, LoadS: 10})
	for i, want := range [][]string{
		{tickOK, "1", "0:1/2", "50.01%", "41.2%", "0.212", "-0.400", "3,600,000", "0", "pulsar-ingest.runner-1.record, 3.0 MiB, SHA-256 0123456789ab"},
		{tickBad, "2", "—", "—", "—", "—", "—", "—", "7", "—"},
	} {
		if !slices.Equal(table.Rows[i], want) {
			t.Errorf("%q, want %q", table.Rows[i], want)
		}
	}
	if len(table.Notes) != 2 || !strings.Contains(table.Notes[0], "Runner 2: killed: signal 9.") ||
		table.Notes[1] != "The coordinator's process (k6 x coordinate) used 0.25 s of CPU time in the 10.0 s of the load: 2.5% of one core." {
		t.Error(table.Notes)
	}
	if len(runnersTable(result.Result{}, nil).Rows) != 0 {
		t.Error("a run of one has no runners")
	}
}
