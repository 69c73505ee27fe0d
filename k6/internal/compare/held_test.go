// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

// holding sets what the system of a run held: its peak, and its descriptors before the load and after it.
func holding(r *result.Result, peak, before, after int64) {
	of := func(all int64) *result.Descriptors { return &result.Descriptors{All: all, TCP: map[string]int64{}} }
	r.Processes[0].PeakOpenFiles = &peak
	r.Held = &result.Held{AfterS: 5, Slack: 10, Processes: []result.HeldByOne{
		{Name: "proxy", Before: result.Holding{Descriptors: of(before)}, After: &result.Holding{Descriptors: of(after)}},
	}}
}

func TestDescriptorsThatStayOpenBreakTheGate(t *testing.T) {
	plain := func(int) float64 { return 1 }
	for about, c := range map[string]struct {
		peak, after int64
		worse       []string
	}{
		"three files more, and a few that stay": {23, 25, nil},
		"a descriptor of each connection":       {1220, 1220, []string{peakDescriptors, leftDescriptors}},
		"a peak that comes back":                {1220, 20, []string{peakDescriptors}},
	} {
		q := pairsOf(12, plain, plain)
		for i := range q.A {
			holding(q.A[i].Result, 20, 20, 20)
			holding(q.B[i].Result, c.peak, 20, c.after)
		}
		compared := Make(q)
		valid(t, compared)
		for _, name := range []string{peakDescriptors, leftDescriptors} {
			m := compared.rowOf(t, "", name)
			if worse := slices.Contains(c.worse, name); m.Gate != worse || m.Role != Secondary {
				t.Errorf("%s: %s: %+v", about, name, m)
			}
		}
	}
}

func TestSlopesAreComparedByTheirDifference(t *testing.T) {
	plain := func(int) float64 { return 1 }
	q := pairsOf(12, plain, plain)
	set := func(r *result.Result, slope float64) {
		what := "own memory per connection"
		r.Sections = []result.Section{{Name: "leak", Title: "Left", Rows: [][]result.Cell{{{Text: &what}, {Value: &slope}}}, Columns: []result.Column{
			{Name: "what", Title: "What", Unit: "text"}, {Name: "bytes", Title: "growth", Unit: bytesEach, Compare: "lower"}}}}
	}
	for i := range q.A {
		set(q.A[i].Result, float64(i%5)-3)
		set(q.B[i].Result, 1000+float64(i%5))
	}
	compared := Make(q)
	valid(t, compared)
	m := compared.rowOf(t, "", "leak.own memory per connection")
	if m.Change == nil || m.Change.Unit != bytesEach || m.Change.Estimate != 1003 || m.Change.Lo == nil || *m.Change.Lo != 1003 || m.Judgement != Worse || m.Gate {
		t.Errorf("%+v %+v", m, m.Change)
	}
	if row := strings.Join(m.row(), " | "); !strings.HasPrefix(row, "Left: own memory per connection (B each) | -1") || !strings.Contains(row, "+1003.00 B each") {
		t.Error(row)
	}
}
