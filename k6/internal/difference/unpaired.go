// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Unpaired is the shift of runs that did not take turns, from a value of each run, as it is or its logarithm, above which
// is worse: Hodges and Lehmann's of the differences of all values of b from all of a, with the exact interval of the
// rank-sum test. No interval is exact where the machine changed between the sides: widen, 0 or more, is what it may have
// made of it, and the interval is wider by it at each end.
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
