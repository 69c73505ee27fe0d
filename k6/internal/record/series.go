// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"sync"

	"go.k6.io/k6/metrics"
)

// Series is one metric with one set of tags.
type Series struct {
	metric    string
	kind      metrics.MetricType
	tags      map[string]string
	mostExact int

	mu sync.Mutex
	// samples are the samples of a trend.
	samples samples
	// The other types of metrics need no samples.
	sum, min, max, last float64
	count, nonzero      int64
}

// Add adds a sample.
func (s *Series) Add(value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kind == metrics.Trend {
		s.samples.add(millionths(value), s.mostExact)
		return
	}
	if s.count == 0 || value < s.min {
		s.min = value
	}
	if s.count == 0 || value > s.max {
		s.max = value
	}
	s.sum += value
	s.last = value
	s.count++
	if value != 0 {
		s.nonzero++
	}
}
