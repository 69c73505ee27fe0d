// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"testing"
)

// The interval of one more observation: 5 values with mean 10 and deviation 1; Student's t with 4 degrees of freedom at
// 0.98 is 2.9985.
func TestPredictedIsThePredictionInterval(t *testing.T) {
	kept := []float64{10 - math.Sqrt(2), 10, 10, 10, 10 + math.Sqrt(2)}
	s := Predicted(kept, 10.5, 0.25)
	if got := s.Estimate(); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("estimate %v", got)
	}
	lo, hi, ok := s.Interval(0.02)
	half := 2.9985*math.Sqrt(1.2) + 0.25
	if !ok || hi-0.5 < half || hi-0.5 > half*1.04 || math.Abs(lo+hi-1) > 1e-9 {
		t.Errorf("interval %v to %v, want 0.5 and %v either way, a little more at most", lo, hi, half)
	}
}

func TestPredictedLevels(t *testing.T) {
	for _, own := range []float64{10, 10.5, 12, 15, 40} {
		s := Predicted([]float64{9, 10, 10, 11, 10, 10}, own, 0)
		for _, bound := range []float64{-1, 0, 0.5, 2} {
			p, back := s.AtLeast(bound), s.Mirrored().AtLeast(-bound)
			if p < 0 || p > 1 || p+back < 1-1e-9 || p+back > 1.12 {
				t.Errorf("own %v, bound %v: p %v and %v the other way", own, bound, p, back)
			}
			if lo, _, _ := s.Interval(0.01); (p <= 0.01) != (lo > bound) {
				t.Errorf("own %v, bound %v: p %v, but the interval begins at %v", own, bound, p, lo)
			}
		}
	}
}

func TestOneKeptRunTellsGrossChangesOnly(t *testing.T) {
	gate := Look{}.primaryGate()
	for factor, want := range map[float64]bool{1: false, 1.3: false, 2: true} {
		s := Predicted([]float64{0}, math.Log(factor), math.Log(1.1))
		if got := s.AtLeast(0) <= gate; got != want {
			t.Errorf("slower by %v: significant %v, want %v", factor, got, want)
		}
	}
	if s := Predicted(nil, 1, 0); s.N != 0 || s.AtLeast(0) != 1 {
		t.Error("without a kept run there is nothing to tell")
	}
}
