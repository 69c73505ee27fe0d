// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
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

// sum is an exact sum with 128 bits: it does not depend on the order and grouping of the numbers. A sum of
// floating-point numbers does.
type sum struct {
	high int64
	low  uint64
}

func (s *sum) add(value int64) {
	low, carry := bits.Add64(s.low, uint64(value), 0)
	s.low, s.high = low, s.high+value>>63+int64(carry)
}

func (s *sum) merge(other sum) {
	low, carry := bits.Add64(s.low, other.low, 0)
	s.low, s.high = low, s.high+other.high+int64(carry)
}

func (s sum) float() float64 {
	value, _ := new(big.Float).SetInt(s.big()).Float64()
	return value
}

func (s sum) big() *big.Int {
	high := new(big.Int).Lsh(big.NewInt(s.high), 64)
	return high.Add(high, new(big.Int).SetUint64(s.low))
}

// MarshalText writes the sum as a decimal number.
func (s sum) MarshalText() ([]byte, error) { return s.big().MarshalText() }

// UnmarshalText parses the text of MarshalText.
func (s *sum) UnmarshalText(text []byte) error {
	var whole big.Int
	if err := whole.UnmarshalText(text); err != nil {
		return err
	}
	high := new(big.Int).Rsh(&whole, 64)
	if !high.IsInt64() {
		return fmt.Errorf("a sum of more than 128 bits")
	}
	s.high = high.Int64()
	s.low = new(big.Int).Sub(&whole, new(big.Int).Lsh(high, 64)).Uint64()
	return nil
}
