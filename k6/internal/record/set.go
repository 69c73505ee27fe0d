// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"maps"
	"slices"
	"sync"

	"windtunnel/k6/internal/seq"
)

// Set presents several records of one run as one: each query has the same answer as one record of all their samples. Use
// it only after recording has ended.
type Set struct {
	records []*Record

	mu sync.Mutex
	// known caches answers.
	known map[string]Values
	err   error
}

// Together returns a set of these records, in this order.
func Together(records ...*Record) *Set { return &Set{records: records, known: map[string]Values{}} }

// Values aggregates all series of a metric that have these tags and possibly others; false if there is no such series.
func (s *Set) Values(metric string, tags map[string]string) (Values, bool) {
	key := keyOf(metric, tags)
	s.mu.Lock()
	defer s.mu.Unlock()
	if values, ok := s.known[key]; ok {
		return values, values != nil
	}
	found := seq.Flat(s.records, func(r *Record) []*Series { return r.matching(metric, tags) })
	if len(found) == 0 {
		s.known[key] = nil
		return nil, false
	}
	values, err := valuesOf(found)
	if err != nil {
		s.err = err
		return nil, false
	}
	s.known[key] = values
	return values, true
}

// TagValues returns the sorted values of a tag in the series of a metric with these tags.
func (s *Set) TagValues(metric string, tags map[string]string, tag string) []string {
	found := map[string]bool{}
	for _, r := range s.records {
		for _, series := range r.matching(metric, tags) {
			if value, ok := series.tags[tag]; ok {
				found[value] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Above is the number of samples of a trend with these tags above a value, in the metric's unit.
func (s *Set) Above(metric string, tags map[string]string, value float64) (count int64) {
	for _, r := range s.records {
		for _, series := range r.matching(metric, tags) {
			series.mu.Lock()
			own := series.samples.ordered()
			series.mu.Unlock()
			if own == nil {
				continue
			}
			below, err := own.atMost(millionths(value))
			if err != nil {
				s.mu.Lock()
				s.err = err
				s.mu.Unlock()
			}
			count += own.count - below
		}
	}
	return count
}

// Err is the error of reading a file for a query; that query returned no values.
func (s *Set) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Shift adds `by` to a gauge of times, such as a clock: the records may have different zeros.
func (r *Record) Shift(metric string, by float64) {
	for _, series := range r.matching(metric, nil) {
		series.mu.Lock()
		if series.count > 0 {
			series.min, series.max, series.last = series.min+by, series.max+by, series.last+by
		}
		series.mu.Unlock()
	}
}
