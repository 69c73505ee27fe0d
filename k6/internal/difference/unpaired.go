// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Unpaired is the shift of runs without turns. Each value is plain or a logarithm; a higher value is worse. It is the
// Hodges-Lehmann estimate from the differences between all values of b and all values of a, with the exact interval of
// the rank-sum test. No interval is exact if the machine changed between the sides. widen, 0 or more, is the possible
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
