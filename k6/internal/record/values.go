// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"strings"

	"go.k6.io/k6/metrics"
)

// Values are what a metric comes to, by the names that k6's summary has for them:
// https://grafana.com/docs/k6/latest/results-output/end-of-test/custom-summary/
type Values map[string]float64

// trendShares are the percentiles of a trend; k6 interpolates between the two nearest ranks.
var trendShares = map[string]float64{"med": 0.5, "p(90)": 0.9, "p(95)": 0.95, "p(99)": 0.99, "p(99.9)": 0.999}

// Values aggregates all series of a metric that have these tags, whatever others they have; false where there is none.
func (r *Record) Values(metric string, tags map[string]string) (Values, bool) {
	r.mu.Lock()
	all := r.byMetric[metric]
	r.mu.Unlock()
	var found []*Series
	for _, s := range all {
		if s.has(tags) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	switch found[0].kind {
	case metrics.Trend:
		return trend(found), true
	case metrics.Gauge:
		return gauge(found), true
	case metrics.Rate:
		return rate(found), true
	default:
		return counter(found), true
	}
}

func (s *Series) has(tags map[string]string) bool {
	for name, value := range tags {
		if s.tags[name] != value {
			return false
		}
	}
	return true
}

// trend is exact as long as all series are; else its percentiles are within Error.
func trend(all []*Series) Values {
	if len(all) == 1 {
		all[0].mu.Lock()
		defer all[0].mu.Unlock()
		return all[0].samples.values()
	}
	samples := &samples{}
	for _, s := range all {
		s.mu.Lock()
		samples.merge(&s.samples)
		s.mu.Unlock()
	}
	return samples.values()
}

func counter(all []*Series) Values {
	var sum float64
	for _, s := range all {
		s.mu.Lock()
		sum += s.sum
		s.mu.Unlock()
	}
	return Values{"count": sum}
}

func rate(all []*Series) Values {
	var passes, total int64
	for _, s := range all {
		s.mu.Lock()
		passes, total = passes+s.nonzero, total+s.count
		s.mu.Unlock()
	}
	values := Values{"passes": float64(passes), "fails": float64(total - passes), "rate": 0}
	if total > 0 {
		values["rate"] = float64(passes) / float64(total)
	}
	return values
}

// gauge has the last value of the series that came about last.
func gauge(all []*Series) Values {
	values := Values{"min": 0, "max": 0, "value": 0}
	empty := true
	for _, s := range all {
		s.mu.Lock()
		if s.count > 0 {
			if empty || s.min < values["min"] {
				values["min"] = s.min
			}
			if empty || s.max > values["max"] {
				values["max"] = s.max
			}
			values["value"], empty = s.last, false
		}
		s.mu.Unlock()
	}
	return values
}

// Parse splits a name such as operation_errors{operation:publish,kind:timeout} into the metric and its tags.
func Parse(name string) (metric string, tags map[string]string) {
	metric, rest, found := strings.Cut(name, "{")
	tags = map[string]string{}
	if !found {
		return metric, tags
	}
	for _, pair := range strings.Split(strings.TrimSuffix(rest, "}"), ",") {
		tag, value, _ := strings.Cut(pair, ":")
		tags[tag] = value
	}
	return metric, tags
}
