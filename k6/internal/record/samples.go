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
	sum      float64
	min, max int64
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
	s.sum += inUnits(value)
	s.min, s.max = min(s.min, value), max(s.max, value)
	// It takes every value of its range.
	_ = s.rest.RecordValue(min(max(value, 0), histogramMost))
}

// merge adds the samples of another series.
func (s *samples) merge(other *samples) {
	if s.rest == nil && other.rest == nil {
		s.exact = append(s.exact, other.exact...)
		return
	}
	s.spill()
	for _, value := range other.exact {
		s.count(value)
	}
	if other.rest != nil {
		s.rest.Merge(other.rest)
		s.sum += other.sum
		s.min, s.max = min(s.min, other.min), max(s.max, other.max)
	}
}

func (s *samples) number() int64 {
	if s.rest != nil {
		return s.rest.TotalCount()
	}
	return int64(len(s.exact))
}

// values are by k6's names, and of what is exact as k6 works them out: a percentile lies between the two nearest ranks.
func (s *samples) values() Values {
	if s.rest != nil {
		count := float64(s.number())
		values := Values{"count": count, "avg": s.sum / count, "min": inUnits(s.min), "max": inUnits(s.max)}
		for name, share := range trendShares {
			values[name] = inUnits(s.rest.ValueAtPercentile(100 * share))
		}
		return values
	}
	// In one order, whoever recorded them: a sum of floating-point numbers depends on it.
	slices.Sort(s.exact)
	values := Values{"count": float64(len(s.exact)), "avg": average(s.exact), "min": 0, "max": 0}
	if last := len(s.exact) - 1; last >= 0 {
		values["min"], values["max"] = inUnits(s.exact[0]), inUnits(s.exact[last])
	}
	for name, share := range trendShares {
		values[name] = percentile(s.exact, share)
	}
	return values
}

func average(all []int64) float64 {
	var sum float64
	for _, value := range all {
		sum += inUnits(value)
	}
	return sum / float64(max(1, len(all)))
}

// percentile is that of k6's TrendSink: between the two nearest ranks.
func percentile(sorted []int64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := share * (float64(len(sorted)) - 1)
	below, above := inUnits(sorted[int(math.Floor(rank))]), inUnits(sorted[int(math.Ceil(rank))])
	return below + (above-below)*(rank-math.Floor(rank))
}
