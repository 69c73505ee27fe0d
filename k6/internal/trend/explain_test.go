// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// explained is a series with changes that Otava would propose.
func explained(values []float64, proposed ...int) Group {
	g := History{Points: made(len(values), []string{"p50"}, func(_, point int) float64 { return values[point] })}.Groups()[0]
	s := &g.Series[0]
	for _, at := range proposed {
		s.Changes = append(s.Changes, Change{Index: at, P: 1e-6})
	}
	s.explain()
	return g
}

func noisy(seed uint64, points int, r, deviation float64, level func(at int) float64) []float64 {
	values := make([]float64, points)
	drawFlat(rand.New(rand.NewPCG(seed, 1)), r, values)
	for i := range values {
		values[i] = level(i) + deviation*values[i]
	}
	return values
}

func TestACreepIsToldAsACreep(t *testing.T) {
	g := explained(noisy(1, 60, 0, 1, func(at int) float64 { return 100 + 0.2*float64(at) }), 14, 28, 45)
	s := g.Series[0]
	if len(s.Changes) > 0 || len(s.Creeps) != 1 {
		t.Fatalf("changes %+v, creeps %+v", s.Changes, s.Creeps)
	}
	c := s.Creeps[0]
	if c.First != 0 || c.Last != 59 || math.Abs(c.Percent()-11.8) > 2 || math.Abs(c.PerPoint()-0.2) > 0.04 || s.CreepsBetter(c) {
		t.Errorf("%+v: %g %%, %g %% a point", c, c.Percent(), c.PerPoint())
	}
	lines := g.Lines()
	for _, want := range []string{"pulsar/ingest quick, testbed pulsar-relay workers=1, messages 1000: p50 creeps, worse: +1", "over 60 points from 2026-01-01 to 2026-03-01", "% a point, by no single commit", "autocorrelation "} {
		if len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("no %q in %q", want, lines)
		}
	}
}

func TestAStepIsToldAsAChange(t *testing.T) {
	g := explained(noisy(2, 60, 0, 1, func(at int) float64 { return 100 + 5*float64(at/40) }), 39, 41)
	s := g.Series[0]
	if len(s.Changes) != 1 || math.Abs(float64(s.Changes[0].Index-40)) > 1 || len(s.Creeps) > 0 {
		t.Fatalf("changes %+v, creeps %+v", s.Changes, s.Creeps)
	}
	if lines := g.Lines(); len(lines) == 0 || !strings.HasPrefix(lines[0], "pulsar/ingest quick, testbed pulsar-relay workers=1, messages 1000: p50 +") {
		t.Errorf("%q", lines)
	}
	for i := range g.Points {
		g.Points[i].Versions, g.Points[i].Commit = nil, ""
	}
	if lines := g.Lines(); !strings.Contains(lines[0], "(version unknown; before it version unknown)") {
		t.Errorf("a system without a version: %q", lines)
	}
}

// A flat series whose points depend on each other is withheld, and the same proposals hold where points are independent.
func TestWhatAutocorrelationExplainsIsWithheld(t *testing.T) {
	told := 0
	for seed := range uint64(20) {
		values := noisy(100+seed, 60, 0.7, 1, func(int) float64 { return 100 })
		g := explained(values, 12, 24, 36, 48)
		s := g.Series[0]
		if len(s.Changes)+len(s.Creeps) > 0 {
			told++
			continue
		}
		if lines := g.Lines(); s.Withheld != 4 || len(lines) != 1 || !strings.Contains(lines[0], "p50 has 4 proposed changes withheld") {
			t.Errorf("%d withheld, %q", s.Withheld, lines)
		}
	}
	if told > 1 {
		t.Errorf("%d of 20 flat series are told to change", told)
	}
}

func TestLag1(t *testing.T) {
	for _, r := range []float64{0, 0.3, 0.7} {
		for _, points := range []int{15, 60, 1000} {
			sum, inside := 0.0, 0
			const series = 400
			for seed := range uint64(series) {
				residuals := around(noisy(seed, points, r, 1, func(int) float64 { return 5 }))
				d := dependenceOf(residuals, 1)
				sum += d.Lag1
				if d.Lo <= r && r <= d.Hi {
					inside++
				}
			}
			if mean := sum / series; math.Abs(mean-r) > 0.1 {
				t.Errorf("%d points of %g are estimated as %.2f", points, r, mean)
			}
			if float64(inside) < 0.75*series {
				t.Errorf("%d points of %g: the interval has it in %d of %d", points, r, inside, series)
			}
		}
	}
}

func TestKnownAnswersOfALine(t *testing.T) {
	values := []float64{10, 12, 14, 99, 18, 20, 22}
	slope, start, residuals := line(values)
	if slope != 2 || start != 10 || residuals[3] != 83 || residuals[6] != 0 {
		t.Errorf("slope %g, start %g, %v", slope, start, residuals)
	}
	// There are 21 pairs, and 3 of them fall.
	if got := kendall(values); got != 15 {
		t.Errorf("S = %g", got)
	}
	slices.Reverse(values)
	if got := kendall(values); got != 15 {
		t.Errorf("S = %g of the reverse", got)
	}
}

// The F statistic compares regressions with and without the step.
func TestStepF(t *testing.T) {
	values := noisy(3, 30, 0.5, 1, func(at int) float64 { return 3 * float64(at/17) })
	y, before := values[1:], values[:29]
	f := stepF(values)
	for at := range values {
		if min(at, len(values)-at) < fewestAside {
			if f[at] != 0 {
				t.Errorf("a step at %d is tried", at)
			}
			continue
		}
		step := make([]float64, len(y))
		for i := at - 1; i < len(step); i++ {
			step[i] = 1
		}
		without, with := sse(y, before).sum, sse(y, before, step).sum
		if want := (without - with) / (with / 26); math.Abs(f[at]-want) > 1e-6*want {
			t.Errorf("F at %d is %g, want %g", at, f[at], want)
		}
	}
	if at := slices.Index(f, largest(f)); at != 17 {
		t.Errorf("the strongest is at %d", at)
	}
}
