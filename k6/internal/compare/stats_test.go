// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestMedianAndItsInterval has the order statistics of the binomial distribution, worked by hand: of n
// runs, [x(l), x(h)] holds the median with P(l <= Bin(n, 1/2) < h). With 10 runs [x(2), x(9)] does so
// with 1 - 2 (1 + 10) / 1024 = 97.9 %; with 8, [x(1), x(7)] with 1 - (1 + 1 + 8) / 256 = 96.1 %.
func TestMedianAndItsInterval(t *testing.T) {
	for n, k := range map[int][2]float64{6: {1, 6}, 7: {1, 7}, 8: {1, 7}, 9: {2, 8}, 10: {2, 9}, 11: {2, 9}, 12: {3, 10}, 15: {4, 12}, 20: {6, 15}} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64((i*7)%n + 1) // 1 to n in some order, where 7 does not divide n
		}
		if n == 7 {
			values = []float64{3, 7, 1, 5, 2, 6, 4}
		}
		s := summarize(values)
		if s.Lo == nil || s.Hi == nil || *s.Lo != k[0] || *s.Hi != k[1] || s.Median != float64(n+1)/2 {
			t.Errorf("n=%d: %+v", n, s)
		}
		if s.Values[0] != values[0] {
			t.Error("the values are out of their order")
		}
	}
	for n := 1; n < leastRuns; n++ {
		if s := summarize(make([]float64, n)); s.Lo != nil && s.Hi != nil {
			t.Errorf("n=%d has an interval", n)
		}
	}
}

func TestMannWhitney(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		// 2 of the C(12, 6) = 924 arrangements are as far apart.
		"apart": {[]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 2.0 / 924},
		// 2 of C(6, 3) = 20.
		"apart, three": {[]float64{4, 5, 6}, []float64{1, 2, 3}, 0.1},
		// Hollander and Wolfe 1973, p. 69: permeability of the human chorioamnion; R's
		// wilcox.test(x, y) gives W = 35, one-sided p = 0.1272, two-sided 0.2544 (764 of 3003).
		"published": {[]float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
			[]float64{1.15, 0.88, 0.90, 0.74, 1.21}, 764.0 / 3003},
		"equal": {[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
	} {
		if p := difference(c.a, c.b); p == nil || !near(*p, c.want) {
			t.Errorf("%s: %v, want %v", name, *p, c.want)
		}
	}
	if difference(nil, []float64{1}) != nil {
		t.Error("a p-value of nothing")
	}
}

func TestChange(t *testing.T) {
	a, b := []float64{100, 200, 100, 100, 50, 10}, []float64{110, 220, 120, 105, 40, 11}
	// Sorted: -20, 5, 10, 10, 10, 20; with 6 pairs the interval is from the least to the most.
	c := pairedChange(a, b, false)
	if !near(c.Median, 10) || !near(*c.Lo, -20) || !near(*c.Hi, 20) || c.Unit != "percent" || c.Pairs != 6 {
		t.Errorf("%+v", c)
	}
	c = pairedChange([]float64{0, 0.01}, []float64{0.05, 0.02}, true)
	if !near(c.Median, 3) || c.Lo != nil || c.Unit != "points" {
		t.Errorf("%+v", c)
	}
	if c = pairedChange([]float64{0, 0, 4}, []float64{0, 3, 4}, false); c.Pairs != 2 || c.Median != 0 {
		t.Errorf("%+v", c)
	}
	if c = pairedChange([]float64{0}, []float64{3}, false); c != nil {
		t.Errorf("%+v", c)
	}
	// Not paired: 100 (90–110) against 150 (120–180) is +50 %, from 120/110 to 180/90.
	bounds := func(median, lo, hi float64) Summary { return Summary{Median: median, Lo: &lo, Hi: &hi} }
	c = unpairedChange(bounds(100, 90, 110), bounds(150, 120, 180), false)
	if !near(c.Median, 50) || !near(*c.Lo, (120.0/110-1)*100) || !near(*c.Hi, 100) || c.Paired {
		t.Errorf("%+v", c)
	}
}
