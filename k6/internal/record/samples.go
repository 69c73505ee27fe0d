// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// MostExact is how many samples of a series are kept one by one, 128 MiB of them; beyond, the series goes into a histogram.
	MostExact = 1 << 24
	// Error of a histogram's percentiles: three significant digits.
	Error = 0.001
	// histogramMost is the largest value of a histogram, in millionths: a month in ms.
	histogramMost = 1 << 52
)

// samples are whole millionths of the metric's unit, of a time in ms: nanoseconds.
type samples struct {
	exact []int64
	// rest is in place of exact where there are too many; it holds no value below 0.
	rest *hdrhistogram.Histogram
	// Of all samples of rest.
	sum      sum
	min, max int64
	// kept is in place of both where the samples are in a file.
	kept *ordered
}

func millionths(value float64) int64 { return int64(math.Round(value * 1e6)) }

func inUnits(millionths int64) float64 { return float64(millionths) / 1e6 }

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, histogramMost, 3) }

func (s *samples) add(value int64, mostExact int) {
	if s.rest == nil && len(s.exact) < mostExact {
		s.exact = append(s.exact, value)
		return
	}
	s.spill()
	s.count(value)
}

// spill moves what is exact into a histogram.
func (s *samples) spill() {
	if s.rest != nil {
		return
	}
	s.rest, s.min, s.max = newHistogram(), math.MaxInt64, math.MinInt64
	for _, value := range s.exact {
		s.count(value)
	}
	s.exact = nil
}

func (s *samples) count(value int64) {
	s.sum.add(value)
	s.min, s.max = min(s.min, value), max(s.max, value)
	// It takes every value of its range.
	_ = s.rest.RecordValue(min(max(value, 0), histogramMost))
}

// ordered are the samples as sources of percentiles; nil where there are none.
func (s *samples) ordered() *ordered {
	switch {
	case s.kept != nil:
		return s.kept
	case s.rest != nil:
		return ofHistogram(s.rest, s.sum, s.min, s.max)
	case len(s.exact) == 0:
		return nil
	}
	slices.Sort(s.exact)
	return ofSorted(s.exact)
}
