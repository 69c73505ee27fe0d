// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"math"

	"windtunnel/k6/internal/difference"
)

// Creep is a drift of a series in one direction, of the values from First to Last, without a single cause. From and To
// are the ends of its line.
type Creep struct {
	First, Last int
	From, To    float64
	P           float64
}

// Percent is the change over all points of the creep.
func (c Creep) Percent() float64 { return (c.To/c.From - 1) * 100 }

func (c Creep) PerPoint() float64 { return c.Percent() / float64(c.Last-c.First) }

// kendall is the statistic of Mann (Econometrica 13, 1945) and Kendall: the number of rising pairs minus the number of
// falling pairs.
func kendall(values []float64) float64 {
	s := 0
	for i, v := range values {
		for _, later := range values[i+1:] {
			switch {
			case later > v:
				s++
			case later < v:
				s--
			}
		}
	}
	return math.Abs(float64(s))
}

// line fits by Theil and Sen (Journal of the American Statistical Association 63, 1968): the slope is the median of all
// slopes, the residuals are the values minus that line.
func line(values []float64) (slope, start float64, residuals []float64) {
	var slopes []float64
	for i, v := range values {
		for k := i + 1; k < len(values); k++ {
			slopes = append(slopes, (values[k]-v)/float64(k-i))
		}
	}
	slope = difference.Median(slopes)
	residuals = make([]float64, len(values))
	for i, v := range values {
		residuals[i] = v - slope*float64(i)
	}
	start = difference.Median(residuals)
	for i := range residuals {
		residuals[i] -= start
	}
	return slope, start, residuals
}

// creepIn is the line of values, with the p-value of the Mann-Kendall test. Autocorrelation widens the distribution of
// the statistic (Hamed and Rao, Journal of Hydrology 204, 1998), so the distribution comes from flat series with the
// autocorrelation around the line.
func creepIn(values []float64) Creep {
	slope, start, residuals := line(values)
	last := len(values) - 1
	r, deviation := lag1(residuals, 2)
	return Creep{Last: last, From: start, To: start + slope*float64(last), P: share(len(values), r, deviation, kendall(values), kendall)}
}
