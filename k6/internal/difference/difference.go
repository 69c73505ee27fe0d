// SPDX-License-Identifier: AGPL-3.0-only

// Package difference is the statistics of all comparisons: by how much B is worse than A, how sure that is, and what it
// means against a bound. It knows numbers only: what they are of is for its callers to say.
//
// Runs that took turns are judged by their pairs alone. Each pair gives one number: the logarithm of a ratio, or a
// difference of shares. If A and B are the same and the order within a pair is by lot, that number is as often above 0 as
// below, and by as much, whatever the noise and the drift. Hodges and Lehmann's estimate and the exact interval and test of
// Wilcoxon's signed ranks need no more than that. (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd
// edition, sections 3.1 to 3.3, and 4.1 to 4.3 for runs without pairs.)
package difference

import (
	"math"
	"slices"
	"sort"
)

// mostLog stands for the logarithm of a ratio with 0 on one side: ranks need a number, and it is beyond all others.
const mostLog = 20.0

// FarWorse is the sample of a pair in which B is worse than any value says: a logarithm, and for shares all percentage points.
func FarWorse(shares bool) float64 {
	if shares {
		return 100
	}
	return mostLog
}

// LogRatio is ln(b/a), and its negative where higher is better: above 0 B is worse. Of 0 on both sides there is no
// difference; 0 against anything else is beyond all other ratios.
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

// Points is the difference of two shares in percentage points: above 0 B is worse.
func Points(a, b float64, higherIsBetter bool) float64 {
	if higherIsBetter {
		a, b = b, a
	}
	return (b - a) * 100
}

// Shift is by how much B is worse than A, from samples of it. Below 0 B is better. A shift and that of the sides
// swapped mirror each other exactly.
type Shift struct {
	// N is the number of pairs; of runs without pairs that of the smaller side.
	N int
	// averages of all pairs of samples, sorted; the estimate is in their middle.
	averages []float64
	// tail is the probability that w of the averages or fewer are on one side of the truth.
	tail func(w int) float64
	// widen is what the sides may differ by for no reason, as they did not take turns.
	widen float64
}

// Paired is the shift of the samples of pairs.
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

// Estimate is Hodges and Lehmann's: the middle of all averages. NaN without a sample.
func (s Shift) Estimate() float64 {
	n := len(s.averages)
	if n == 0 {
		return math.NaN()
	}
	return (s.averages[(n-1)/2] + s.averages[n/2]) / 2
}

// Interval misses the truth on either side with probability alpha at most; false where there are too few for that.
func (s Shift) Interval(alpha float64) (lo, hi float64, ok bool) {
	n := len(s.averages)
	if n == 0 || s.tail(0) > alpha {
		return 0, 0, false
	}
	// The greatest w of the lower half whose tail is within alpha.
	w := sort.Search(n/2, func(w int) bool { return s.tail(w) > alpha }) - 1
	w = max(0, min(w, (n-1)/2))
	return s.averages[w] - s.widen, s.averages[n-1-w] + s.widen, true
}

// AtLeast is the one-sided p-value of B being worse by more than bound: how often chance would have as many averages
// above it if B were worse by bound. It is below alpha where the interval of alpha lies above bound, and only there.
// What is equal to the bound counts against it, so that ties make p larger, never smaller.
func (s Shift) AtLeast(bound float64) float64 {
	n := len(s.averages)
	if n == 0 {
		return 1
	}
	notAbove := sort.Search(n, func(i int) bool { return s.averages[i] > bound+s.widen })
	return s.tail(notAbove)
}

// leastP is the least one-sided p-value that this number of samples can have; 1 without a sample.
func (s Shift) leastP() float64 {
	if len(s.averages) == 0 {
		return 1
	}
	return s.tail(0)
}

// Mirrored is the shift of the sides swapped.
func (s Shift) Mirrored() Shift {
	own := s
	own.averages = make([]float64, len(s.averages))
	for i, v := range s.averages {
		own.averages[len(s.averages)-1-i] = -v
	}
	return own
}

// P is the two-sided p-value of a difference at all: of the same test as the interval.
func (s Shift) P() float64 {
	return min(1, 2*min(s.AtLeast(0), s.Mirrored().AtLeast(0)))
}
