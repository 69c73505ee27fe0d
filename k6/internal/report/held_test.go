// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"slices"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestTheTableOfWhatWasHeld(t *testing.T) {
	n := func(value int64) *int64 { return &value }
	of := func(all, left int64) *result.Descriptors {
		return &result.Descriptors{All: all, TCP: map[string]int64{"close_wait": left}, Left: left, Other: all - left}
	}
	r := result.Result{
		Processes: []result.Process{{Name: "proxy", Role: "system", PeakAnonBytes: n(3 << 20), PeakOpenFiles: n(1300), PeakDescriptors: of(1290, 1270), PeakThreads: n(9), VoluntarySwitches: n(2500), InvoluntarySwitches: n(3), MinorFaults: n(40), MajorFaults: n(2)}},
		Held: &result.Held{AfterS: 5, Slack: 10, Processes: []result.HeldByOne{
			{Name: "proxy", Before: result.Holding{AnonBytes: 1 << 20, Threads: 5, Descriptors: of(12, 0)}, After: &result.Holding{AnonBytes: 2 << 20, Threads: 6, Descriptors: of(1212, 1200)}},
			{Name: "ended", Before: result.Holding{AnonBytes: 1 << 20, Threads: 5}},
		}},
	}
	table := heldTable(r)
	for i, want := range [][]string{
		{"proxy", "1.0", "3.0", "2.0", "12", "1,300", "1,212", "5", "9", "6", "2,500", "3", "42"},
		{"ended", "1.0", "—", "—", "—", "—", "—", "5", "—", "—", "—", "—", "—"},
	} {
		if !slices.Equal(table.Rows[i], want) {
			t.Error(table.Rows[i])
		}
	}
	for i, want := range []string{
		"Descriptors of proxy close to the peak: 1,290: 1,270 TCP close_wait, 20 other.",
		"Descriptors of proxy after the load: 1,212: 1,200 TCP close_wait, 12 other.",
	} {
		if table.Notes[i] != want {
			t.Error(table.Notes)
		}
	}
	r = result.Result{Rows: []result.HeldByRow{
		{Name: "vless", Held: result.Held{AfterS: 0.4, Processes: []result.HeldByOne{{Name: "server", Before: result.Holding{AnonBytes: 1 << 20, Threads: 5, Descriptors: of(12, 0)},
			Peak: result.Peaks{AnonBytes: n(3 << 20), OpenFiles: n(300)}, After: &result.Holding{AnonBytes: 2 << 20, Threads: 6, Descriptors: of(13, 0)}}}}},
		{Name: "queue=64", Unjudged: "inside of limits", Held: result.Held{AfterS: 0.9, Processes: []result.HeldByOne{{Name: "proxy"}}}},
	}}
	table = heldTable(r)
	for i, want := range [][]string{
		{"vless: server", "1.0", "3.0", "2.0", "12", "300", "13", "5", "—", "6", "—", "—", "—"},
		{"queue=64: proxy", "0.0", "—", "—", "—", "—", "—", "0", "—", "—", "—", "—", "—"},
	} {
		if !slices.Equal(table.Rows[i], want) {
			t.Error(table.Rows[i])
		}
	}
	if want := []string{"After: at most 0.9 s after each load, of the slowest instance of a name. Peak: of all of them. What is left inside of limits is not judged."}; !slices.Equal(table.Notes, want) {
		t.Error(table.Notes)
	}
	if table := heldTable(result.Result{}); len(table.Rows) != 0 || len(table.Notes) != 0 {
		t.Error("a table of nothing")
	}
}
