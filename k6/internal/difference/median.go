// SPDX-License-Identifier: AGPL-3.0-only

package difference

import "slices"

// Median is the value in the middle, or halfway between the two in the middle; 0 without values.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
