// SPDX-License-Identifier: AGPL-3.0-only

package difference

import "sync"

// MostPairs is the largest number of pairs in a comparison; more pairs would decide nothing more.
const MostPairs = 999

var tails sync.Map // from n to the []float64 of tailsOf

// signedRankTail is P(W <= w) of Wilcoxon's signed-rank statistic of n pairs. W is the sum of the ranks of one sign. It
// is exact, from all 2^n signs. w is 0 to n(n+1)/2.
func signedRankTail(n, w int) float64 {
	if w < 0 {
		return 0
	}
	all, ok := tails.Load(n)
	if !ok {
		all, _ = tails.LoadOrStore(n, tailsOf(n))
	}
	tail := all.([]float64)
	if w < len(tail) {
		return tail[w]
	}
	if rest := n*(n+1)/2 - w - 1; rest >= 0 {
		return 1 - tail[rest]
	}
	return 1
}

// tailsOf is P(W <= w) for w in the lower half: each rank has either sign with probability 1/2.
func tailsOf(n int) []float64 {
	p := make([]float64, n*(n+1)/4+1)
	p[0] = 1
	reached := 0
	for rank := 1; rank <= n; rank++ {
		reached = min(reached+rank, len(p)-1)
		for w := reached; w >= 0; w-- {
			p[w] /= 2
			if w >= rank {
				p[w] += p[w-rank] / 2
			}
		}
	}
	for w := 1; w < len(p); w++ {
		p[w] += p[w-1]
	}
	return p
}

// FewestPairs is the smallest number of pairs that can reach a one-sided level, if all pairs point the same way.
func FewestPairs(alpha float64) int {
	n := 1
	for p := 0.5; p > alpha && n < MostPairs; p /= 2 {
		n++
	}
	return n
}
