// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"slices"

	"github.com/aclements/go-moremath/mathx"

	"windtunnel/k6/internal/seq"
)

// MoreFailures is the one-sided p-value for B failing more than A. Its input is the difference of the shares of failed
// operations in each pair. It is Wilcoxon's test over the pairs that differ: equal pairs do not show which side fails
// more. The test is exact even with ties, over all signs of the differences.
func MoreFailures(differences []float64) float64 {
	own := seq.Filter(differences, func(d float64) bool { return d != 0 })
	if len(own) == 0 {
		return 1
	}
	return tiedSignedRank(own)
}

// MoreOften is the one-sided p-value for B failing more often than A. a and b count the failures of each side in the
// same number of tries, and both sides rarely fail. Without a difference, a coin toss decides on which side each failure
// is.
func MoreOften(a, b int) float64 {
	if b <= 0 {
		return 1
	}
	return mathx.BetaInc(0.5, float64(b), float64(a+1))
}

// tiedSignedRank is the probability that random signs give at least this sum of positive ranks. Ties have their average
// rank.
func tiedSignedRank(d []float64) float64 {
	size := make([]float64, len(d))
	for i, v := range d {
		size[i] = max(v, -v)
	}
	sorted := slices.Sorted(slices.Values(size))
	// Doubled ranks are integers, even the average rank of a tie.
	doubled, own, total := make([]int, len(d)), 0, 0
	for i, v := range size {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last+1 < len(sorted) && sorted[last+1] == v {
			last++
		}
		doubled[i] = first + last + 2
		total += doubled[i]
		if d[i] > 0 {
			own += doubled[i]
		}
	}
	// By symmetry, P(sum of positive ranks >= own) = P(sum of negative ranks <= total-own).
	p := make([]float64, total+1)
	p[0] = 1
	reached := 0
	for _, rank := range doubled {
		reached += rank
		for w := reached; w >= 0; w-- {
			p[w] /= 2
			if w >= rank {
				p[w] += p[w-rank] / 2
			}
		}
	}
	least := 0.0
	for w := 0; w <= total-own; w++ {
		least += p[w]
	}
	return min(1, least)
}
