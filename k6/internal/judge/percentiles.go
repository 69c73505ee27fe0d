// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"strconv"
	"strings"

	"windtunnel/k6/internal/result"
)

// percentile is a field of a result's latency, k6's name for it, and its share.
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

// Carries reports whether so many samples carry a percentile, whose share is 0 to 1: at least one sample must lie beyond it.
// Of 50 samples the 99th percentile is only their maximum with a misleading name.
func Carries(share float64, samples int64) bool { return float64(samples)*(1-share) >= 1-1e-9 }

// shareOf is that of what a threshold aggregates to, such as p(95); false where it is no percentile.
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
