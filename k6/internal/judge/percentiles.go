// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"strconv"
	"strings"

	"windtunnel/k6/internal/result"
)

// percentile is a field of a result's latency, with k6's name and its share (0 to 1).
type percentile struct {
	key   string
	share float64
	in    func(*result.Latency) **float64
}

var percentiles = []percentile{
	{"med", 0.5, func(l *result.Latency) **float64 { return &l.P50 }},
	{"p(90)", 0.9, func(l *result.Latency) **float64 { return &l.P90 }},
	{"p(95)", 0.95, func(l *result.Latency) **float64 { return &l.P95 }},
	{"p(99)", 0.99, func(l *result.Latency) **float64 { return &l.P99 }},
	{"p(99.9)", 0.999, func(l *result.Latency) **float64 { return &l.P999 }},
}

// Carries reports whether a percentile, given as a share (0 to 1), is meaningful for a number of samples: at least one
// sample must lie beyond it. The 99th percentile of 50 samples would only be their maximum under a misleading name.
func Carries(share float64, samples int64) bool { return float64(samples)*(1-share) >= 1-1e-9 }

// shareOf is the share of a threshold's aggregate, such as p(95); false if it is no percentile.
func shareOf(expression string) (float64, bool) {
	aggregate := aggregateIn(expression)
	if aggregate == "med" {
		return 0.5, true
	}
	text, found := strings.CutPrefix(aggregate, "p(")
	if !found {
		return 0, false
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, ")"), 64)
	return percent / 100, err == nil
}
