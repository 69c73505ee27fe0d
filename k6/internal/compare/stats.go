// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// sample is benchmath's of values, which it leaves in their order.
func sample(values []float64) *benchmath.Sample {
	thresholds := benchmath.DefaultThresholds
	thresholds.CompareAlpha = alpha
	return benchmath.NewSample(slices.Clone(values), &thresholds)
}

// summarize returns the median and its confidence interval, which no distribution is assumed for.
// There must be a value.
func summarize(values []float64) Summary {
	s := benchmath.AssumeNothing.Summary(sample(values), confidence)
	return Summary{Values: values, Median: s.Center, Lo: finite(s.Lo), Hi: finite(s.Hi)}
}

// difference returns the p-value of the Mann-Whitney U test, nil without values on both sides.
func difference(a, b []float64) *float64 {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	p := math.Min(1, benchmath.AssumeNothing.Compare(sample(a), sample(b)).P)
	return &p
}

// pairedChange summarizes the changes of pairs, a nil without any; points says that the values are
// shares. A pair whose A is 0 has no change in percent unless its B is 0 too.
func pairedChange(a, b []float64, points bool) *Change {
	var changes []float64
	for i := range a {
		switch {
		case points:
			changes = append(changes, (b[i]-a[i])*100)
		case a[i] != 0:
			changes = append(changes, (b[i]/a[i]-1)*100)
		case b[i] == 0:
			changes = append(changes, 0)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	s := summarize(changes)
	return &Change{Unit: unitOf(points), Paired: true, Pairs: len(changes), Median: s.Median, Lo: s.Lo, Hi: s.Hi}
}

// unpairedChange is of the medians. Its interval goes from the least that B can be against the most
// that A can be to the opposite: wider than it need be.
func unpairedChange(a, b Summary, points bool) *Change {
	change := func(from, to float64) float64 {
		if points {
			return (to - from) * 100
		}
		return (to/from - 1) * 100
	}
	if !points && a.Median <= 0 {
		return nil
	}
	c := &Change{Unit: unitOf(points), Median: change(a.Median, b.Median)}
	if a.Lo != nil && a.Hi != nil && b.Lo != nil && b.Hi != nil && (points || *a.Lo > 0) {
		c.Lo, c.Hi = finite(change(*a.Hi, *b.Lo)), finite(change(*a.Lo, *b.Hi))
	}
	return c
}

func unitOf(points bool) string {
	if points {
		return "points"
	}
	return "percent"
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
