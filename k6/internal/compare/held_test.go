// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math"
	"math/rand/v2"
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

func TestMemoryThatStaysBreaksTheGate(t *testing.T) {
	const mib = 1 << 20
	plain := func(int) float64 { return 1 }
	for about, c := range map[string]struct {
		a, b  int64 // what stays
		worse bool
	}{
		"what a collector leaves":     {0, 7 * mib, false},
		"an allocator's step on both": {50 * mib, 51 * mib, false},
		"a step of B":                 {3 * mib, 50 * mib, true},
		"memory that falls":           {-5 * mib, -mib, false},
	} {
		q := pairsOf(12, plain, plain)
		for i := range q.A {
			for side, m := range []Measured{q.A[i], q.B[i]} {
				holding(m.Result, 20, 20, 20)
				one := &m.Result.Held.Processes[0]
				one.Before.AnonBytes, one.After.AnonBytes = 10*mib, 10*mib+[]int64{c.a, c.b}[side]
			}
		}
		compared := Make(q)
		valid(t, compared)
		if m := compared.rowOf(t, "", leftMemory); m.Gate != c.worse || m.Role != Secondary {
			t.Errorf("%s: %+v", about, m)
		}
	}
}

// TestHarmlessMemoryRarelyBreaksTheGate has equal sides whose memory after the load is chance.
func TestHarmlessMemoryRarelyBreaksTheGate(t *testing.T) {
	const mib, runs = 1 << 20, 50
	for about, stays := range map[string]func(random *rand.Rand) int64{
		"a saw-tooth of a collector":    func(random *rand.Rand) int64 { return random.Int64N(20 * mib) },
		"a step of 50 MiB in some runs": func(random *rand.Rand) int64 { return mib + 50*mib*random.Int64N(2) },
		"memory that is returned late":  func(random *rand.Rand) int64 { return int64(200 * mib * math.Pow(random.Float64(), 4)) },
	} {
		broke := 0
		for seed := range uint64(runs) {
			random, q := rand.New(rand.NewPCG(seed, 5)), pairsOf(14, noise(seed), noise(seed+1000))
			for i := range q.A {
				for _, m := range []Measured{q.A[i], q.B[i]} {
					holding(m.Result, 20, 20, 20)
					m.Result.Held.Processes[0].After.AnonBytes = stays(random)
				}
			}
			if c := Make(q); c.rowOf(t, "", leftMemory).Gate {
				broke++
			}
		}
		if broke > 1 {
			t.Errorf("%s: %d of %d comparisons of equal sides fail", about, broke, runs)
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
