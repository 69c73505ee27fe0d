// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Values of SciPy 1.16's signed-rank distribution; 25 of 1,024 are also in the tables of Hollander and Wolfe.
func TestSignedRankTail(t *testing.T) {
	for _, c := range []struct {
		n, w int
		want float64
	}{
		{1, 0, 0.5}, {3, 2, 3.0 / 8}, {6, 0, 1.0 / 64}, {10, 8, 25.0 / 1024}, {10, -1, 0}, {10, 55, 1}, {10, 54, 1023.0 / 1024},
		{20, 52, 0.02422046661376953}, {50, 434, 0.024723203400300875}, {100, 1955, 0.02496187980214628},
	} {
		if got := signedRankTail(c.n, c.w); !near(got, c.want) {
			t.Errorf("n=%d w=%d: %g, want %g", c.n, c.w, got, c.want)
		}
	}
	if p := signedRankTail(MostPairs, MostPairs*(MostPairs+1)/4); math.Abs(p-0.5) > 0.001 {
		t.Errorf("the middle of %d pairs is %g", MostPairs, p)
	}
}

// hamilton are the depression scores of nine patients before and after: Hollander and Wolfe 1973, p. 29. R's
// wilcox.test(x, y, paired = TRUE, conf.int = TRUE) and SciPy give V = 40, p = 0.03906, 0.46 and 0.010 to 0.786.
func hamilton() []float64 {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	return d
}

func TestPublishedPairs(t *testing.T) {
	s := Paired(hamilton())
	lo, hi, ok := s.Interval(0.025)
	if !ok || !near(s.Estimate(), 0.46) || !near(lo, 0.010) || !near(hi, 0.786) {
		t.Errorf("%g, %g to %g", s.Estimate(), lo, hi)
	}
	if !near(s.P(), 0.0390625) || !near(s.AtLeast(0), 0.01953125) {
		t.Errorf("p %g, one-sided %g", s.P(), s.AtLeast(0))
	}
	// SciPy's wilcoxon(d, method='exact'), two-sided and one-sided.
	d := []float64{0.646, 1.122, 0.63, -1.003, 1.205, 0.746, -0.237, 0.881, 0.665, 0.594, 0.328, 0.847}
	if s := Paired(d); !near(s.P(), 0.02685546875) || !near(s.AtLeast(0), 0.013427734375) {
		t.Errorf("p %g, one-sided %g", s.P(), s.AtLeast(0))
	}
}

// Hollander and Wolfe 1973, p. 69: permeability of the human chorioamnion. R and SciPy: p = 0.2544, 0.305 and -0.15 to 0.76.
func TestPublishedRunsWithoutPairs(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	s := Unpaired(y, x, 0)
	lo, hi, ok := s.Interval(0.025)
	if !ok || !near(s.Estimate(), 0.305) || !near(lo, -0.15) || !near(hi, 0.76) || !near(s.P(), 764.0/3003) {
		t.Errorf("%g, %g to %g, p %g", s.Estimate(), lo, hi, s.P())
	}
	wide := Unpaired(y, x, 0.1)
	if l, h, _ := wide.Interval(0.025); !near(l, lo-0.1) || !near(h, hi+0.1) || wide.P() < s.P() || wide.Estimate() != s.Estimate() {
		t.Errorf("%g to %g, p %g", l, h, wide.P())
	}
}

// samples of any shape, including ties and zeros.
func samples(r *rand.Rand, n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = r.NormFloat64() + 0.3
		if r.IntN(4) == 0 {
			d[i] = float64(r.IntN(3) - 1)
		}
	}
	return d
}

func negated(d []float64) []float64 {
	own := make([]float64, len(d))
	for i, v := range d {
		own[i] = -v
	}
	return own
}

// TestSwappedSidesMirror: a shift of swapped sides has the same values with opposite sign, to the last bit. The interval
// excludes the same number of averages above as below; order statistics that drop one end do not.
func TestSwappedSidesMirror(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		d := samples(r, 1+r.IntN(30))
		e := samples(r, 1+r.IntN(12))
		widen := float64(r.IntN(2)) * 0.2
		for name, pair := range map[string][2]Shift{
			"pairs":         {Paired(d), Paired(negated(d))},
			"without pairs": {Unpaired(d, e, widen), Unpaired(e, d, widen)},
			"mirrored":      {Paired(d), Paired(d).Mirrored()},
		} {
			one, other := pair[0], pair[1]
			lo, hi, ok := one.Interval(0.02)
			mirroredLo, mirroredHi, okOther := other.Interval(0.02)
			if one.Estimate() != -other.Estimate() || lo != -mirroredHi || hi != -mirroredLo || ok != okOther || one.P() != other.P() {
				t.Fatalf("%s of %v: %g (%g to %g, p %g) and %g (%g to %g, p %g)", name, d, one.Estimate(), lo, hi, one.P(),
					other.Estimate(), mirroredLo, mirroredHi, other.P())
			}
		}
	}
}

// TestTheTestBelongsToTheInterval: a value is significant if and only if the interval excludes it.
func TestTheTestBelongsToTheInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		s := Paired(samples(r, 5+r.IntN(30)))
		for _, alpha := range []float64{0.02, 0.005, 0.0004} {
			lo, _, ok := s.Interval(alpha)
			if above := ok && lo > 0; above != (s.AtLeast(0) <= alpha) {
				t.Fatalf("lo %g (%v), p %g, alpha %g", lo, ok, s.AtLeast(0), alpha)
			}
		}
	}
}

// TestAnIntervalUsesAllOfItsError uses 1 to 10, whose smallest averages are 1, 1.5 and 2. W <= 0 occurs in one of 1,024
// combinations of signs, W <= 1 in two.
func TestAnIntervalUsesAllOfItsError(t *testing.T) {
	s := Paired([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	for alpha, want := range map[float64][2]float64{1.0 / 1024: {1, 10}, 1.9 / 1024: {1, 10}, 2.0 / 1024: {1.5, 9.5}} {
		if lo, hi, ok := s.Interval(alpha); !ok || lo != want[0] || hi != want[1] {
			t.Errorf("%g: %g to %g (%v), want %v", alpha, lo, hi, ok, want)
		}
	}
	if _, _, ok := s.Interval(0.9 / 1024); ok {
		t.Error("an interval of less error than ten pairs have")
	}
}

func TestTooFewPairsHaveNoInterval(t *testing.T) {
	for n := range 9 {
		_, _, ok := Paired(make([]float64, n)).Interval(0.02)
		if want := n >= 6; ok != want { // 1/64 is below 0.02, 1/32 is not
			t.Errorf("n=%d: %v", n, ok)
		}
	}
	for alpha, want := range map[float64]int{0.5: 1, 0.025: 6, 0.02: 6, 0.01: 7, 0.005: 8, 0.0025: 9} {
		if got := FewestPairs(alpha); got != want {
			t.Errorf("%g: %d, want %d", alpha, got, want)
		}
	}
	if s := Paired(nil); !math.IsNaN(s.Estimate()) || s.P() != 1 {
		t.Error("nothing has an estimate")
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		a, b   float64
		higher bool
		want   float64
	}{{2, 3, false, math.Log(1.5)}, {3, 2, true, math.Log(1.5)}, {0, 0, true, 0}, {0, 1, false, mostLog}, {0, 1, true, -mostLog}, {1, 0, true, mostLog}} {
		if got := LogRatio(c.a, c.b, c.higher); !near(got, c.want) || LogRatio(c.b, c.a, c.higher) != -got {
			t.Errorf("%+v: %g", c, got)
		}
	}
	if got := Points(0.99, 0.98, true); !near(got, 1) {
		t.Error(got)
	}
	if got := Points(0.99, 0.98, false); !near(got, -1) {
		t.Error(got)
	}
}

// Computed by hand: n pairs that all differ in the same direction have the probability 1 in 2^n. The ranks of 1, 1, 2
// and -1 are 2, 2, 4 and 2, and the positive ones add up to 8 of 10. One of the 16 combinations of signs adds up to 10,
// and three add up to 8.
func TestMoreFailures(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		want float64
	}{
		{nil, 1}, {[]float64{0, 0}, 1}, {[]float64{0, 0.7, 0, 0.7, 0.8}, 1.0 / 8}, {[]float64{1, 1, 2, -1}, 4.0 / 16},
		{[]float64{-1, -2}, 1}, {[]float64{0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75}, 1.0 / 1024},
	} {
		if got := MoreFailures(c.d); !near(got, c.want) {
			t.Errorf("%v: %g, want %g", c.d, got, c.want)
		}
	}
}
