// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

// idleRuns are pairs of a scenario that wants two figures judged: memory and wake-ups. The speed of its probes says nothing,
// and varies by a factor of 2. B needs memory and wake-ups by these factors.
func idleRuns(pairs int, seed uint64, memory, wakeups float64) Request {
	random := rand.New(rand.NewPCG(seed, 3))
	wild := func(int) float64 { return 0.7 + 0.7*random.Float64() }
	q := pairsOf(pairs, wild, wild)
	add := func(m *Measured, memory, wakeups float64) {
		off := 1 + 0.05*(2*random.Float64()-1)
		m.Result.Sections = []result.Section{{Name: "idle", Title: "While idle", Columns: []result.Column{
			{Name: "state", Title: "Open", Unit: "text"},
			{Name: "kib", Title: "Memory each", Unit: "KiB", Compare: "lower", Judged: true},
			{Name: "wakeups", Title: "wake-ups/s", Unit: "count", Compare: "lower", Judged: true},
			{Name: "trip", Title: "Round trip", Unit: "ms", Compare: "lower"},
		}, Rows: [][]result.Cell{{{Text: new("tunnels")}, {Value: p(40 * memory * off)}, {Value: p(10 * wakeups)}, {Value: p(off)}}}}}
	}
	for i := range q.A {
		add(&q.A[i], 1, 1)
		add(&q.B[i], memory, wakeups)
	}
	return q
}

func TestJudgedFiguresDecideInPlaceOfSpeed(t *testing.T) {
	for name, test := range map[string]struct {
		memory, wakeups float64
		code            int
		headline        string
	}{
		"equal sides":     {1, 1, exit.Pass, "pair:queue=128 needs as much as pair"},
		"more memory":     {1.3, 1, exit.Fail, " % more than pair: +"},
		"more wake-ups":   {1, 2, exit.Fail, "needs 100 % more than pair: +100"},
		"less, and equal": {0.5, 1, exit.Pass, "pair:queue=128 needs as much as pair"},
	} {
		c := Make(idleRuns(20, 7, test.memory, test.wakeups))
		valid(t, c)
		if c.ExitCode() != test.code || !strings.Contains(c.Headline, test.headline) {
			t.Errorf("%s: %d %q %v", name, c.ExitCode(), c.Headline, c.Reasons)
		}
		primary := 0
		for _, m := range c.Metrics {
			if m.Role == Primary {
				primary++
			}
		}
		trip, speed := c.rowOf(t, "", "idle.tunnels.trip"), c.rowOf(t, "tcp", "mbit_per_s")
		if primary != 2 || trip.Role != Shown || speed.Role != Shown {
			t.Errorf("%s: %d primary metrics, %s is %s, %s is %s", name, primary, trip.Title, trip.Role, speed.Title, speed.Role)
		}
	}
}

func TestAJudgedFigureThatOneSideLacksDecidesNothing(t *testing.T) {
	q := idleRuns(20, 8, 1, 1)
	for i := range q.B {
		for column := 1; column <= 2; column++ {
			q.B[i].Result.Sections[0].Rows[0][column] = result.Cell{}
		}
	}
	if c := Make(q); c.ExitCode() != exit.Inconclusive || !strings.Contains(strings.Join(c.Reasons, "\n"), "no figure that the scenario wants judged") {
		t.Errorf("%d %v", c.ExitCode(), c.Reasons)
	}
}

// TestErrorRatesOfJudgedFigures: how often do equal sides fail, and how often does a side pass that needs a quarter more?
func TestErrorRatesOfJudgedFigures(t *testing.T) {
	const runs = 50
	failed, passed := 0, 0
	for seed := range uint64(runs) {
		if Make(idleRuns(16, 100+seed, 1, 1)).ExitCode() == exit.Fail {
			failed++
		}
		if Make(idleRuns(16, 1000+seed, 1.25, 1)).ExitCode() == exit.Pass {
			passed++
		}
	}
	if failed > 1 || passed > 0 {
		t.Errorf("of %d equal pairs of sides %d fail, and of as many with a quarter more memory %d pass", runs, failed, passed)
	}
}
