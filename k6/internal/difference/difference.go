// SPDX-License-Identifier: AGPL-3.0-only

// Package difference has the statistics of all comparisons: how much worse B is than A, how sure that is, and what it
// means against a bound. It knows only numbers; its callers know what the numbers measure.
//
// Runs in turns are judged only by their pairs. Each pair gives one number: the logarithm of a ratio, or a difference of
// shares. If A and B are the same and the order within a pair is random, that number is symmetric around 0, whatever the
// noise and the drift. The Hodges-Lehmann estimate, and the exact interval and test of Wilcoxon's signed ranks, need
// only this symmetry. (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd edition, sections 3.1 to 3.3,
// and 4.1 to 4.3 for runs without pairs.)
package difference

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
)

// mostLog replaces the logarithm of a ratio with 0 on one side: ranks need a finite number, beyond all others.
const mostLog = 20.0

// FarWorse is the sample of a pair in which B is worse than any value could show: a logarithm, or for shares 100
// percentage points.
func FarWorse(shares bool) float64 {
	if shares {
		return 100
	}
	return mostLog
}

// LogRatio is ln(b/a), or its negative if higher is better: above 0, B is worse. It is 0 if both values are 0. A ratio
// with one 0 is beyond all other ratios.
func LogRatio(a, b float64, higherIsBetter bool) float64 {
	if higherIsBetter {
		a, b = b, a
	}
	switch {
	case a <= 0 && b <= 0:
		return 0
	case a <= 0:
		return mostLog
	case b <= 0:
		return -mostLog
	}
	return math.Log(b) - math.Log(a)
}

// Points is the difference of two shares in percentage points: above 0, B is worse.
func Points(a, b float64, higherIsBetter bool) float64 {
	if higherIsBetter {
		a, b = b, a
	}
	return (b - a) * 100
}

// Shift is how much worse B is than A, computed from samples. Below 0, B is better. Swapping the sides mirrors the shift
// exactly.
type Shift struct {
	// N is the number of pairs; for runs without pairs, the number of runs of the smaller side.
	N int
	// averages are the averages of all pairs of samples, sorted; the estimate is their median.
	averages []float64
	// tail is the probability that at most w of the averages are on one side of the truth.
	tail func(w int) float64
	// widen is how far the sides may differ without a reason, because they did not take turns.
	widen float64
}

// Paired is the shift from one sample for each pair.
func Paired(samples []float64) Shift {
	n := len(samples)
	s := Shift{N: n, averages: make([]float64, 0, n*(n+1)/2), tail: func(w int) float64 { return signedRankTail(n, w) }}
	for i, x := range samples {
		for _, y := range samples[i:] {
			s.averages = append(s.averages, (x+y)/2)
		}
	}
	slices.Sort(s.averages)
	return s
}

// Estimate is the Hodges-Lehmann estimate: the median of all averages. It is NaN without samples.
func (s Shift) Estimate() float64 {
	n := len(s.averages)
	if n == 0 {
		return math.NaN()
	}
	return (s.averages[(n-1)/2] + s.averages[n/2]) / 2
}

// Interval misses the truth on either side with a probability of at most alpha; it returns false with too few samples.
func (s Shift) Interval(alpha float64) (lo, hi float64, ok bool) {
	n := len(s.averages)
	if n == 0 || s.tail(0) > alpha {
		return 0, 0, false
	}
	// w is the largest index in the lower half whose tail is at most alpha.
	w := sort.Search(n/2, func(w int) bool { return s.tail(w) > alpha }) - 1
	w = max(0, min(w, (n-1)/2))
	return s.averages[w] - s.widen, s.averages[n-1-w] + s.widen, true
}

// AtLeast is the one-sided p-value for B being worse by more than bound: the probability of this many averages above
// bound if B were worse by exactly bound. It is below alpha if and only if the interval of alpha is above bound. A value
// equal to the bound counts against the claim, so ties can only raise p.
func (s Shift) AtLeast(bound float64) float64 {
	n := len(s.averages)
	if n == 0 {
		return 1
	}
	notAbove := sort.Search(n, func(i int) bool { return s.averages[i] > bound+s.widen })
	return s.tail(notAbove)
}

// leastP is the smallest possible one-sided p-value for this number of samples; 1 without samples.
func (s Shift) leastP() float64 {
	if len(s.averages) == 0 {
		return 1
	}
	return s.tail(0)
}

// Mirrored is the shift with the sides swapped.
func (s Shift) Mirrored() Shift {
	own := s
	own.averages = make([]float64, len(s.averages))
	for i, v := range s.averages {
		own.averages[len(s.averages)-1-i] = -v
	}
	return own
}

// P is the two-sided p-value for any difference, from the same test as the interval.
func (s Shift) P() float64 {
	n := len(s.averages)
	if n == 0 {
		return 1
	}
	// The other side is worse by these averages.
	below := sort.Search(n, func(i int) bool { return s.averages[i] >= -s.widen })
	return min(1, 2*min(s.AtLeast(0), s.tail(n-below)))
}

// Median is the value in the middle, or halfway between the two in the middle; 0 without values.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Unpaired is the shift of runs without turns. Each value is plain or a logarithm; a higher value is worse. The
// estimate is by Hodges and Lehmann: the median of the differences between all values of b and all values of a. The
// rank-sum test gives the exact interval. A change of the machine between the sides makes the interval inexact. widen, 0 or more, is the possible
// effect of such a change; the interval is wider by it at each end.
func Unpaired(a, b []float64, widen float64) Shift {
	u := stats.UDist{N1: len(a), N2: len(b)}
	s := Shift{N: min(len(a), len(b)), widen: widen, tail: func(w int) float64 { return min(1, u.CDF(float64(w))) }}
	for _, x := range a {
		for _, y := range b {
			s.averages = append(s.averages, y-x)
		}
	}
	slices.Sort(s.averages)
	return s
}
