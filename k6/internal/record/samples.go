// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// MostExact is the largest number of samples of a series that are kept exactly (128 MiB); a longer series becomes a
	// histogram.
	MostExact = 1 << 24
	// Error is the relative error of a histogram's percentiles: three significant digits.
	Error = 0.001
	// histogramMost is the largest value of a histogram, in millionths: about a month, in ms.
	histogramMost = 1 << 52
)

// samples are whole millionths of the metric's unit; for a time in ms these are nanoseconds.
type samples struct {
	exact []int64
	// rest replaces exact if there are too many samples; it holds no negative value.
	rest *hdrhistogram.Histogram
	// These are of all samples in rest.
	sum      sum
	min, max int64
	// kept replaces both if the samples are in a file.
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
	// The histogram accepts every value of its range, so there is no error.
	_ = s.rest.RecordValue(min(max(value, 0), histogramMost))
}

// ordered returns the samples as sources of percentiles; nil without samples.
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
