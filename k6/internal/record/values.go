// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"strings"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/seq"
)

// Values are the values of a metric, by the names of k6's summary:
// https://grafana.com/docs/k6/latest/results-output/end-of-test/custom-summary/ A trend with samples in a histogram has
// one more, "error": the relative error of its percentiles.
type Values map[string]float64

// Percentile is a percentile of a trend.
type Percentile struct {
	// Name is k6's name, Bound the name of its bound in an environment, and Title its name in reports.
	Name, Bound, Title string
	// Share is from 0 to 1.
	Share float64
}

// Percentiles are the percentiles of a trend; k6 interpolates between the two nearest ranks.
var Percentiles = []Percentile{
	{"med", "p(50)", "P50", 0.5},
	{"p(90)", "p(90)", "P90", 0.9},
	{"p(95)", "p(95)", "P95", 0.95},
	{"p(99)", "p(99)", "P99", 0.99},
	{"p(99.9)", "p(99.9)", "P99.9", 0.999},
}

// Values aggregates all series of a metric that have these tags and possibly others; false if there is no such series.
func (r *Record) Values(metric string, tags map[string]string) (Values, bool) {
	return Together(r).Values(metric, tags)
}

// TagValues returns the sorted values of a tag in the series of a metric with these tags.
func (r *Record) TagValues(metric string, tags map[string]string, tag string) []string {
	return Together(r).TagValues(metric, tags, tag)
}

// matching returns the series of a metric that have these tags.
func (r *Record) matching(metric string, tags map[string]string) []*Series {
	r.mu.Lock()
	all := r.byMetric[metric]
	r.mu.Unlock()
	return seq.Filter(all, func(s *Series) bool { return s.has(tags) })
}

func (s *Series) has(tags map[string]string) bool {
	for name, value := range tags {
		if s.tags[name] != value {
			return false
		}
	}
	return true
}

func valuesOf(all []*Series) (Values, error) {
	switch all[0].kind {
	case metrics.Trend:
		return trend(all)
	case metrics.Gauge:
		return gauge(all), nil
	case metrics.Rate:
		return rate(all), nil
	default:
		return counter(all), nil
	}
}

// trend is exact if all samples are; the values do not depend on the number of series and records.
func trend(all []*Series) (Values, error) {
	values := Values{"count": 0, "avg": 0, "min": 0, "max": 0}
	var sources []*ordered
	var total sum
	for _, s := range all {
		s.mu.Lock()
		own := s.samples.ordered()
		s.mu.Unlock()
		if own == nil {
			continue
		}
		sources = append(sources, own)
		total.merge(own.sum)
		if own.rough {
			values["error"] = Error
		}
	}
	if len(sources) == 0 {
		for _, p := range Percentiles {
			values[p.Name] = 0
		}
		return values, nil
	}
	least, most := sources[0].least(), sources[0].most()
	for _, own := range sources {
		least, most = min(least, own.least()), max(most, own.most())
	}
	together := rankedOf(sources)
	values["count"], values["avg"] = float64(together.count), total.float()/1e6/float64(together.count)
	values["min"], values["max"] = inUnits(least), inUnits(most)
	for _, p := range Percentiles {
		value, err := together.percentile(p.Share)
		if err != nil {
			return nil, err
		}
		values[p.Name] = value
	}
	return values, nil
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

// gauge has the last value of the newest series.
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
