// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"strconv"
	"strings"

	"windtunnel/k6/internal/record"
)

// Carries reports whether a percentile, given as a share (0 to 1), is meaningful for a number of samples: at least one
// sample must lie beyond it. The 99th percentile of 50 samples would only be their maximum under a misleading name.
func Carries(share float64, samples int64) bool { return float64(samples)*(1-share) >= 1-1e-9 }

// shareOf is the share of a threshold's aggregate, such as p(95); false if it is no percentile.
func shareOf(expression string) (float64, bool) {
	aggregate := aggregateIn(expression)
	for _, p := range record.Percentiles {
		if p.Name == aggregate {
			return p.Share, true
		}
	}
	text, found := strings.CutPrefix(aggregate, "p(")
	if !found {
		return 0, false
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, ")"), 64)
	return percent / 100, err == nil
}
