// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"sync"

	"windtunnel/k6/internal/seq"

	"github.com/aclements/go-moremath/stats"
)

const (
	// FewestKept is the smallest number of kept runs whose noise is known well enough.
	FewestKept = 4
	// AssumedNoise is the standard deviation of the logarithm of a run's value, used with fewer kept runs. It is the
	// noise between consecutive runs on the machine of docs/benchmarks.md.
	AssumedNoise = 0.10
	// tailSteps is the number of steps from leastTail to the middle of a distribution.
	tailSteps = 400
	leastTail = 1e-9
)

// Predicted is the shift of one run from kept runs. Each value is plain or a logarithm; a higher value is worse. Ranks
// of one value against so few prove nothing at the levels of the gate. So this is the only shift that assumes a
// distribution: the runs of one program are normally distributed. The interval is the prediction interval of one more
// run: Student's, with the variance of the kept runs, or normal with AssumedNoise for fewer than FewestKept. widen, 0
// or more, is how much the machine may have changed since.
func Predicted(kept []float64, own, widen float64) Shift {
	n := len(kept)
	if n == 0 {
		return Shift{}
	}
	deviation, degrees := AssumedNoise, 0
	if n >= FewestKept {
		deviation, degrees = stats.StdDev(kept), n-1
	}
	middle, scale := own-stats.Mean(kept), deviation*math.Sqrt(1+1/float64(n))
	levels := tailLevels()
	s := Shift{N: n, widen: widen, averages: make([]float64, 2*len(levels))}
	for i, quantile := range quantilesOf(degrees) {
		half := -scale * quantile
		s.averages[i], s.averages[len(s.averages)-1-i] = middle-half, middle+half
	}
	s.tail = func(w int) float64 {
		switch {
		case w < len(levels):
			return levels[w]
		case w < 2*len(levels)-1:
			// Take the next higher level of the upper half, to err on the safe side.
			return 1 - levels[2*len(levels)-2-w]
		}
		return 1
	}
	return s
}

var quantiles sync.Map // from degrees of freedom to the []float64 of quantilesOf

// quantilesOf are Student's quantiles at the tailLevels; 0 degrees of freedom gives the normal distribution's.
func quantilesOf(degrees int) []float64 {
	if known, ok := quantiles.Load(degrees); ok {
		return known.([]float64)
	}
	inverse := stats.InvCDF(stats.StdNormal)
	if degrees > 0 {
		inverse = stats.InvCDF(stats.TDist{V: float64(degrees)})
	}
	all := seq.Map(tailLevels(), inverse)
	quantiles.Store(degrees, all)
	return all
}

// tailLevels are probabilities from leastTail to just below 1/2, with a constant ratio between neighbours.
var tailLevels = sync.OnceValue(func() []float64 {
	levels := make([]float64, tailSteps)
	for i := range levels {
		levels[i] = leastTail * math.Pow(0.5/leastTail, float64(i)/tailSteps)
	}
	return levels
})
