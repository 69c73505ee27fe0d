// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"fmt"
	"math"
	"math/rand/v2"

	"windtunnel/k6/internal/seq"

	"github.com/aclements/go-moremath/stats"
)

// Dependence is the autocorrelation of a series at lag 1, around its steps and creeps, with a 95 % interval.
type Dependence struct{ Lag1, Lo, Hi float64 }

func (d Dependence) String() string {
	return fmt.Sprintf("autocorrelation %.2f (%.2f to %.2f)", d.Lag1, d.Lo, d.Hi)
}

// mostLag1 bounds an estimate: a series closer to a random walk has no level that could change.
const mostLag1 = 0.95

// lag1 estimates the autocorrelation at lag 1 of residuals around a fit. The fit has 1 parameter for a mean, 2 for a
// line. For short series the plain estimate is too small by (1 + 3 r)/n around a mean, and by (2 + 4 r)/n around a line:
// Marriott and Pope, Biometrika 41 (1954); Kendall, ibid. The result is corrected for this bias.
func lag1(residuals []float64, parameters int) (r, deviation float64) {
	var own, next float64
	for i, v := range residuals {
		own += v * v
		if i > 0 {
			next += v * residuals[i-1]
		}
	}
	n, k := float64(len(residuals)), float64(parameters)
	if own == 0 || n <= k+2 {
		return 0, 1
	}
	r = math.Max(-mostLag1, math.Min(mostLag1, (n*next/own+k)/(n-k-2)))
	// Bartlett's formula for AR(1): Box and Jenkins, Time Series Analysis, 2.1.6.
	return r, math.Sqrt((1 - r*r) / n)
}

func dependenceOf(residuals []float64, parameters int) Dependence {
	r, deviation := lag1(residuals, parameters)
	return Dependence{r, math.Max(-1, r-1.96*deviation), math.Min(1, r+1.96*deviation)}
}

// flats is the largest number of flat series that a test draws. The test stops after `enough` larger ones, because it
// can no longer be significant (Besag and Clifford, Biometrika 78, 1991).
const flats, enough = 999, 10

// share is the p-value of a statistic by a parametric bootstrap: the share of flat series of the same length that reach
// it (Davison and Hinkley, Bootstrap Methods and their Application, 4.2). The flat series are AR(1). The autocorrelation
// of each is drawn from the uncertainty of the estimate, so short series need stronger evidence.
func share(points int, r, deviation, statistic float64, of func([]float64) float64) float64 {
	random := rand.New(rand.NewPCG(uint64(points), 14))
	values := make([]float64, points)
	larger := 1
	for drawn := 1; drawn <= flats; drawn++ {
		drawFlat(random, math.Max(0, math.Min(mostLag1, r+deviation*random.NormFloat64())), values)
		if of(values) >= statistic {
			if larger++; larger > enough {
				return float64(enough) / float64(drawn)
			}
		}
	}
	return float64(larger) / (flats + 1)
}

func drawFlat(random *rand.Rand, r float64, values []float64) {
	last := random.NormFloat64() / math.Sqrt(1-r*r)
	for i := range values {
		values[i] = last
		last = r*last + random.NormFloat64()
	}
}

func around(values []float64) []float64 {
	mean := stats.Mean(values)
	return seq.Map(values, func(v float64) float64 { return v - mean })
}
