// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"maps"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/influx"
)

// mostSeries is the largest number of sets of tags of one k6, including buckets, so that no script can fill a database.
const mostSeries = 6000

// tagNames are the streamed tags; each has few values.
var tagNames = []string{"testid", "system", "scenario", "profile", runnerTag, "operation", "kind", "component", stepTag, "change", "outcome"}

// runnerTag separates the runners of one run, whose points would otherwise overwrite each other.
const runnerTag = "runner"

// stepTag is kept only for the metrics that judge a step: for others the time already shows the step.
const stepTag = "step"

const (
	latencyMetric = "operation_ms"
	failureMetric = "operation_failed"
)

// leftOut reports whether a metric is not streamed, because it repeats another one, or only the result needs it.
func leftOut(m *metrics.Metric) bool {
	switch m.Name {
	case "group_duration", "iteration_duration", "rounds_begun", "component_largest",
		"operation_active_s", "operation_bytes", "operation_probe_cpu_s", "operation_system_cpu_s",
		"panel_requests", "panel_waited_ms", "panel_route_ms":
		return true
	}
	return strings.HasPrefix(m.Name, "http_req_") && m.Type == metrics.Trend
}

type series struct {
	name  string
	kind  metrics.MetricType
	tags  influx.Tags
	index int // index among all series
	// usual is the number of samples of a trend in the previous second.
	usual int
	// heat counts its values in buckets, nil for a series without buckets.
	heat *heat
}

// heat is a histogram of latencies over all steps. Each non-empty bucket is a series.
type heat struct {
	tags   influx.Tags
	budget *budget
	known  [len(bucketBounds) + 1]bool
}

// budget counts series. Series of k6 and of buckets are created in different goroutines.
type budget struct {
	used atomic.Int64
	full atomic.Bool // a series was rejected
}

func (b *budget) take() bool {
	if b.used.Add(1) <= mostSeries {
		return true
	}
	b.used.Add(-1)
	b.full.Store(true)
	return false
}

type catalogue struct {
	known map[metrics.TimeSeries]*series // nil for a time series that is not streamed
	byKey map[string]*series
	heats map[string]*heat
	// common are the tags of samples that do not have those tags.
	common map[string]string
	*budget
}

func newCatalogue() catalogue {
	return catalogue{map[metrics.TimeSeries]*series{}, map[string]*series{}, map[string]*heat{}, nil, &budget{}}
}

// find returns the series of a sample, nil if it is not streamed.
func (c *catalogue) find(of metrics.TimeSeries) *series {
	found, ok := c.known[of]
	if !ok {
		found = c.add(of)
		c.known[of] = found
	}
	return found
}

func (c *catalogue) add(of metrics.TimeSeries) *series {
	if leftOut(of.Metric) {
		return nil
	}
	name := of.Metric.Name
	tags, key := c.reduced(of, name == latencyMetric || name == failureMetric)
	found, ok := c.byKey[key]
	if ok || !c.budget.take() {
		return found
	}
	found = &series{name: name, kind: of.Metric.Type, tags: tags, index: len(c.byKey)}
	c.byKey[key] = found
	if name == latencyMetric && found.kind == metrics.Trend {
		tags, key = c.reduced(of, false)
		if c.heats[key] == nil {
			c.heats[key] = &heat{tags: tags, budget: c.budget}
		}
		found.heat = c.heats[key]
	}
	return found
}

// reduced returns the streamed tags, and a key that identifies them with the metric.
func (c *catalogue) reduced(of metrics.TimeSeries, step bool) (tags influx.Tags, key string) {
	tags, key = influx.Tags{}, of.Metric.Name
	for _, name := range tagNames {
		value, ok := of.Tags.Get(name)
		if !ok {
			value, ok = c.common[name]
		}
		if ok && (step || name != stepTag) {
			tags[name] = value
			key += "\x00" + name + "\x00" + value
		}
	}
	return tags, key
}

// bucketBounds are the bounds of the histogram of latencies in ms: 1, 2 and 5 in each decade.
var bucketBounds = [...]float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500,
	1000, 2000, 5000, 10_000, 20_000, 50_000, 60_000}

// buckets are counts of values: greater than the lower bound, at most the upper bound. The last bucket counts all values
// above the last bound.
type buckets [len(bucketBounds) + 1]int64

// add counts sorted values.
func (counts *buckets) add(sorted []float64) {
	below := 0
	for i, bound := range bucketBounds {
		upTo := sort.Search(len(sorted), func(i int) bool { return sorted[i] > bound })
		counts[i] += int64(upTo - below)
		below = upTo
	}
	counts[len(bucketBounds)] += int64(len(sorted) - below)
}

// points adds the buckets of a second to a batch; an empty bucket has no point.
func (h *heat) points(b *influx.Batch, counts *buckets, at time.Time) {
	for i, count := range counts {
		if count == 0 || !h.known[i] && !h.budget.take() {
			continue
		}
		h.known[i] = true
		own := maps.Clone(h.tags)
		own["le"] = "+Inf"
		if i < len(bucketBounds) {
			own["le"] = strconv.FormatFloat(bucketBounds[i], 'f', -1, 64)
		}
		b.Add(latencyMetric+"_bucket", own, influx.Fields{"count": count}, at)
	}
}
