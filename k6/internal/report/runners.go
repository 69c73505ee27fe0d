// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"fmt"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// runnersTable lists the k6 processes of a run with several.
func runnersTable(r result.Result, coordinator *run.Coordinator) Table {
	t := Table{
		Title:   "Runners",
		Head:    []string{"", "Runner", "Segment", "Share", "CPU (% of one core)", "Late at P99 (ms)", "Start (ms)", "Clock set by (ms)", "Dropped", "Record"},
		Numbers: between(3, 9), State: 0,
	}
	for _, one := range r.Runners {
		t.Rows = append(t.Rows, []string{
			tick(&one.OK), fmt.Sprint(one.Number), cmp.Or(one.Segment, format.None), format.Share(one.Share), orNone(one.CPUPercent, format.Percent), format.MS(one.LateMS),
			format.MS(one.StartOffsetMS), format.MS(one.ClockOffsetMS), format.Count(int64(one.DroppedIterations)), orNone(one.Record, recordText),
		})
		if one.Detail != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("Runner %d: %s.", one.Number, one.Detail))
		}
	}
	if coordinator != nil && coordinator.LoadS > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("The coordinator's process (%s) used %.2f s of CPU time in the %.1f s of the load: %s of one core.",
			coordinator.Program, coordinator.CPUS, coordinator.LoadS, format.Percent(100*coordinator.CPUS/coordinator.LoadS)))
	}
	return t
}

// orNone writes a value; a dash if it is unknown.
func orNone[T any](value *T, write func(T) string) string {
	if value == nil {
		return format.None
	}
	return write(*value)
}

// recordText is a record's name, its size, and the start of its checksum.
func recordText(file result.RecordFile) string {
	text := fmt.Sprintf("%s, %s MiB", file.File, format.MiB(file.Bytes))
	if file.SHA256 != "" {
		text += ", SHA-256 " + file.SHA256[:min(12, len(file.SHA256))]
	}
	return text
}
