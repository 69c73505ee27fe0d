// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"math"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

const (
	// FewestKept is the least number of kept runs that tell their own noise.
	FewestKept = 4
	// AssumedNoise is the standard deviation of the logarithm of a run's value where fewer runs were kept: what two runs
	// that follow each other differ by on the machine of docs/benchmarks.md.
	AssumedNoise = 0.10
	// tailSteps lead from leastTail to the middle of a distribution.
	tailSteps = 400
	leastTail = 1e-9
)

// Predicted is the shift of one run from runs that were kept, from a value of each, as it is or its logarithm, above which is
// worse. Ranks of one against so few tell nothing at the levels of the gate, so this is the only shift that assumes a
// distribution: the runs of one program are normally distributed, and the interval is that in which one more of them would
// be (Student's, with the variance of the kept runs; with fewer than FewestKept that of AssumedNoise). widen, 0 or more, is
// what the machine may have changed by since.
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
			// The next level of the upper half, so that it errs to the safe side.
			return 1 - levels[2*len(levels)-2-w]
		}
		return 1
	}
	return s
}

var quantiles sync.Map // of degrees of freedom to the []float64 of quantilesOf

// quantilesOf are Student's quantiles at the tailLevels; with 0 degrees of freedom the normal ones.
func quantilesOf(degrees int) []float64 {
	if known, ok := quantiles.Load(degrees); ok {
		return known.([]float64)
	}
	inverse := stats.InvCDF(stats.StdNormal)
	if degrees > 0 {
		inverse = stats.InvCDF(stats.TDist{V: float64(degrees)})
	}
	all := tailLevels()
	for i, p := range all {
		all[i] = inverse(p)
	}
	quantiles.Store(degrees, all)
	return all
}

// tailLevels are probabilities from leastTail to just below 1/2, each the same ratio of the next.
func tailLevels() []float64 {
	levels := make([]float64, tailSteps)
	for i := range levels {
		levels[i] = leastTail * math.Pow(0.5/leastTail, float64(i)/tailSteps)
	}
	return levels
}
