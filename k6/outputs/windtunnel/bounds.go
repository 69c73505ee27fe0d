// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"maps"
	"slices"
	"strings"
	"time"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/influx"
)

// boundsEvery is the number of seconds between two points of a bound: a constant line needs few points.
const boundsEvery = 10

type bound struct {
	tags  influx.Tags
	value float64
}

// boundsOf returns the bounds of thresholds on the latency and the failures of operations, which the boards draw, with
// the tags of the run. Each bound counts as a series in the budget.
func boundsOf(thresholds map[string]metrics.Thresholds, run map[string]string, series *budget) []bound {
	var found []bound
	for _, key := range slices.Sorted(maps.Keys(thresholds)) {
		metric, tags, err := metrics.ParseMetricName(key)
		if err != nil || metric != latencyMetric && metric != failureMetric || len(tags) != 1 {
			continue
		}
		operation, ok := strings.CutPrefix(tags[0], "operation:")
		if !ok {
			continue
		}
		for _, t := range thresholds[key].Thresholds {
			value, ok := format.Bound(t.Source)
			// Other thresholds only create a submetric for the summary: they always hold.
			judges := strings.Contains(t.Source, "<") && (metric != failureMetric || value < 1)
			if ok && judges && series.take() {
				found = append(found, bound{boundTags(run, operation, metric+" "+t.Source), value})
			}
		}
	}
	return found
}

func boundTags(run map[string]string, operation, threshold string) influx.Tags {
	tags := influx.Tags{"operation": operation, "threshold": threshold}
	for _, name := range []string{"testid", "system", "scenario", "profile", runnerTag} {
		if value, ok := run[name]; ok {
			tags[name] = value
		}
	}
	return tags
}

func boundPoints(b *influx.Batch, bounds []bound, second int64) {
	for _, one := range bounds {
		b.Add("bounds", one.tags, influx.Fields{"bound": one.value}, time.Unix(second, 0))
	}
}

// addBounds adds the bounds to a second's points every boundsEvery seconds, and in the last second.
func (o *Output) addBounds(b *influx.Batch, second int64, last bool) {
	if !last && second < o.lastBounds+boundsEvery {
		return
	}
	boundPoints(b, o.bounds, second)
	o.lastBounds = second
}
