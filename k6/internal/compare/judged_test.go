// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
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
			{Name: "kib", Title: "Memory each", Unit: "KiB", Compare: "lower", Judged: true, Least: 4},
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
		"more of both":    {1.3, 2, exit.Fail, "; worse: "},
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

// withCells replaces B's and A's cells of a column in all runs.
func withCells(q Request, column int, a, b result.Cell) Request {
	for i := range q.A {
		for side, runs := range [][]Measured{q.A, q.B} {
			for _, row := range runs[i].Result.Sections[0].Rows {
				row[column] = []result.Cell{a, b}[side]
			}
		}
	}
	return q
}

func TestSmallFiguresCountAsTheLeast(t *testing.T) {
	for b, want := range map[float64]float64{1: 0, 4: 0, 40: 900} {
		c := Make(withCells(idleRuns(20, 9, 1, 1), 1, result.Cell{Value: p(0)}, result.Cell{Value: &b}))
		valid(t, c)
		m := c.rowOf(t, "", "idle.tunnels")
		if m.Title != "While idle: tunnels, at least 4" || math.Abs(m.Change.Estimate-want) > 1e-6 || m.Gate != (want > 0) {
			t.Errorf("%g KiB instead of 0: %s: %+v, gate %v", b, m.Title, *m.Change, m.Gate)
		}
	}
	if title := leastText(0.1*3) + leastText(12345.678); title != ", at least 0.3, at least 12350" {
		t.Error(title)
	}
}

func TestAFigureThatNoRunHasIsMissing(t *testing.T) {
	unknown, none := result.Cell{}, result.Cell{Text: new("—")}
	c := Make(withCells(idleRuns(20, 10, 1, 1), 1, unknown, unknown))
	valid(t, c)
	if c.Doubt != IsMissing || !slices.Equal(c.Reasons, []string{"no run has a value of: While idle: tunnels, at least 4"}) {
		t.Errorf("%s %v", c.Doubt, c.Reasons)
	}
	if c := Make(withCells(idleRuns(20, 10, 1, 1), 1, none, none)); c.Verdict != Pass {
		t.Errorf("a figure that the row does not have: %s %v", c.Verdict, c.Reasons)
	}
	if c := Make(withCells(idleRuns(20, 10, 1, 1), 1, result.Cell{Value: p(40)}, none)); c.Doubt != IsMissing {
		t.Errorf("a figure that only A has: %s %v", c.Verdict, c.Reasons)
	}
}

// matrixRuns are pairs of a matrix: beside their speed, its rows have a footprint.
func matrixRuns(memory, left func(side, run int) result.Cell) Request {
	q := pairsOf(20, noise(1), noise(2))
	for side, runs := range [][]Measured{q.A, q.B} {
		for i := range runs {
			s := result.Section{Name: "footprint", Title: "Footprint", Columns: []result.Column{
				{Name: "row", Title: "Protocol", Unit: "text"},
				{Name: "memory", Title: "own memory", Unit: "MiB", Compare: "lower", Secondary: true, Least: 1},
				{Name: "left", Title: "left", Unit: "count", Compare: "lower", Secondary: true, Least: 20},
			}}
			for _, row := range []string{"vless", "trojan", "socks", "http"} {
				s.Rows = append(s.Rows, []result.Cell{{Text: &row}, memory(side, i), left(side, i)})
			}
			runs[i].Result.Sections = []result.Section{s}
		}
	}
	return q
}

func TestTheFootprintOfRowsIsSecondary(t *testing.T) {
	number := func(a, b float64) func(side, run int) result.Cell {
		return func(side, run int) result.Cell {
			return result.Cell{Value: p([]float64{a, b}[side] * (1 + 0.01*float64(run%5)))}
		}
	}
	unknownFrom := func(first, side int) func(side, run int) result.Cell {
		return func(s, run int) result.Cell {
			if s >= side && run >= first {
				return result.Cell{}
			}
			return result.Cell{Value: p(0)}
		}
	}
	const where = "Footprint: vless, left, at least 20; Footprint: trojan, left, at least 20; Footprint: socks, left, at least 20 and 1 more figure "
	for about, test := range map[string]struct {
		memory, left func(side, run int) result.Cell
		off          bool
		verdict      string
		text         string // of the first reason, or of a note without one
	}{
		"as much":                          {number(30, 30), number(0, 0), false, Pass, ""},
		"half more memory":                 {number(30, 45), number(0, 0), false, Fail, "Footprint: vless, own memory, at least 1 is worse by more than 10 %: +50.00%"},
		"half more memory, not judged":     {number(30, 45), number(0, 0), true, Pass, ""},
		"a few left connections":           {number(30, 30), number(0, 19), false, Pass, ""},
		"many left connections":            {number(30, 30), number(0, 60), false, Fail, "Footprint: vless, left, at least 20 is worse by more than 10 %: +2"},
		"B has none of a figure":           {number(30, 30), unknownFrom(0, 1), false, Inconclusive, where + "were not measured in b1, b2, b3 and 17 more runs"},
		"B lacks a figure in the last run": {number(30, 30), unknownFrom(19, 1), false, Inconclusive, where + "were not measured in b20"},
		"nobody has a figure":              {number(30, 30), unknownFrom(0, 0), false, Pass, "not judged, because no run has a value: " + strings.TrimSpace(where)},
	} {
		q := matrixRuns(test.memory, test.left)
		q.SecondaryOff = test.off
		c := Make(q)
		valid(t, c)
		told := slices.Concat(c.Reasons, c.Notes, []string{""})
		if c.Verdict != test.verdict || !slices.ContainsFunc(told, func(line string) bool { return strings.HasPrefix(line, test.text) }) {
			t.Errorf("%s: %s %q", about, c.Verdict, told)
		}
		if missing := seq.Count(told, func(line string) bool { return strings.Contains(line, "trojan, left") }); missing > 1 && test.verdict != Fail {
			t.Errorf("%s: more than one line: %q", about, told)
		}
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
