// SPDX-License-Identifier: AGPL-3.0-only

package windtunnel

import (
	"fmt"
	"math"
	"slices"
	"time"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/influx"
)

// aggregate adds samples up by second and series. It is not safe for concurrent use.
type aggregate struct {
	catalogue catalogue
	open      []*second // unordered; usually one or two
	// taken counts how often each second was taken: a probe's samples arrive after it has ended, with earlier times.
	taken    map[int64]int
	reported bool // that the catalogue is full
}

// mostParts is how often a second is taken; later samples count in the next second that is still available.
const mostParts = 1000

// second is the samples of one second since it was last taken. cells are by the index of their series, nil without
// samples.
type second struct {
	at    int64
	part  int // 0 for the first part
	cells []*cell
}

// cell is one series in one second. Values are the values of a trend.
type cell struct {
	series        *series
	count         int64
	hits          int64
	sum, min, max float64
	last          float64
	values        []float64
}

func newAggregate() *aggregate { return &aggregate{catalogue: newCatalogue(), taken: map[int64]int{}} }

// add adds a sample. A sample that arrives after its second was taken goes to a further part of that second. The part
// has separate points, so that no sample is lost and no point is overwritten.
func (a *aggregate) add(sample *metrics.Sample) {
	s := a.catalogue.find(sample.TimeSeries)
	if s == nil {
		return
	}
	at := sample.Time.Unix()
	for a.taken[at] >= mostParts {
		at++
	}
	a.second(at).cell(s).add(sample.Value)
}

func (a *aggregate) second(at int64) *second {
	for _, s := range a.open {
		if s.at == at {
			return s
		}
	}
	s := &second{at: at, part: a.taken[at]}
	a.open = append(a.open, s)
	return s
}

func (s *second) cell(of *series) *cell {
	if of.index >= len(s.cells) {
		s.cells = append(s.cells, make([]*cell, of.index+1-len(s.cells))...)
	}
	c := s.cells[of.index]
	if c == nil {
		c = &cell{series: of, min: math.Inf(1), max: math.Inf(-1)}
		if of.kind == metrics.Trend {
			c.values = make([]float64, 0, of.usual)
		}
		s.cells[of.index] = c
	}
	return c
}

func (c *cell) add(value float64) {
	c.count++
	c.sum += value
	c.last = value
	c.min, c.max = min(c.min, value), max(c.max, value)
	switch {
	case c.series.kind == metrics.Trend:
		c.values = append(c.values, value)
	case value != 0:
		c.hits++
	}
}

// take removes and returns the seconds that have ended by a time, in order.
func (a *aggregate) take(upTo time.Time) []*second {
	last := upTo.Unix() - 1
	var over []*second
	a.open = slices.DeleteFunc(a.open, func(s *second) bool {
		if s.at <= last {
			over = append(over, s)
		}
		return s.at <= last
	})
	slices.SortFunc(over, func(x, y *second) int { return int(x.at - y.at) })
	for _, s := range over {
		a.taken[s.at]++
	}
	for _, s := range over {
		for _, c := range s.cells {
			if c != nil {
				c.series.usual = len(c.values)
			}
		}
	}
	return over
}

// notice is a line to report once, "" without one.
func (a *aggregate) notice() string {
	if a.reported || !a.catalogue.full.Load() {
		return ""
	}
	a.reported = true
	return fmt.Sprintf("k6 measures more than %d sets of tags: those beyond are not streamed; the results are complete", mostSeries)
}

// points adds a second's points to a batch. Each further part is dated a millisecond later, within the same second.
func (s *second) points(b *influx.Batch) {
	at := time.Unix(s.at, 0).Add(time.Duration(s.part) * time.Millisecond)
	heats := map[*heat]*buckets{}
	for _, c := range s.cells {
		if c == nil {
			continue
		}
		b.Add(c.series.name, c.series.tags, c.fields(), at)
		if h := c.series.heat; h != nil {
			if heats[h] == nil {
				heats[h] = &buckets{}
			}
			heats[h].add(c.values)
		}
	}
	for h, counts := range heats {
		h.points(b, counts, at)
	}
}

// fields are the fields for the metric's type; it sorts the values of a trend.
func (c *cell) fields() influx.Fields {
	switch c.series.kind {
	case metrics.Counter:
		return influx.Fields{"count": c.sum}
	case metrics.Rate:
		return influx.Fields{"count": c.count, "hits": c.hits}
	case metrics.Gauge:
		return influx.Fields{"value": c.last, "min": c.min, "max": c.max}
	}
	slices.Sort(c.values)
	return influx.Fields{"count": c.count, "sum": c.sum, "min": c.min, "max": c.max,
		"p50": percentile(c.values, 0.50), "p95": percentile(c.values, 0.95), "p99": percentile(c.values, 0.99)}
}

// percentile is computed like k6's: linear between the nearest ranks of sorted values.
func percentile(sorted []float64, share float64) float64 {
	place := share * float64(len(sorted)-1)
	below, above := sorted[int(math.Floor(place))], sorted[int(math.Ceil(place))]
	return below + (above-below)*(place-math.Floor(place))
}
