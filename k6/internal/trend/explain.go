// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"math"
	"slices"

	"windtunnel/k6/internal/seq"
)

// mostFlat is the p-value above which a step or a creep is not reported.
const mostFlat = 0.005

// explain withholds proposed changes that autocorrelation explains, and reports a creep as a creep.
func (s *Series) explain() {
	proposed := seq.Map(s.Changes, func(c Change) int { return c.Index })
	slices.Sort(proposed)
	changes := s.Changes
	s.Changes = nil
	s.part(0, len(s.Values), proposed, changes)
	s.takeMeans()
	s.Dependence = s.dependence()
	if len(s.Creeps) == 0 {
		s.Withheld = len(changes) - len(s.Changes)
	}
}

// part explains the values from first up to last (exclusive): by a line, by the strongest step with the parts on either
// side (binary segmentation: Vostrikova, Soviet Mathematics Doklady 24, 1981), or by nothing.
func (s *Series) part(first, last int, proposed []int, changes []Change) {
	values := s.Values[first:last]
	if len(values) < fewestPoints || slices.Min(values) == slices.Max(values) {
		return
	}
	var inside []int
	for _, at := range proposed {
		if at > first && at < last {
			inside = append(inside, at-first)
		}
	}
	creep := creepIn(values)
	at, p := 0, 1.0
	if len(inside) > 0 {
		at, p = strongest(values, inside)
	}
	isStep, isLine := p <= mostFlat, creep.P <= mostFlat
	switch {
	case !isStep && !isLine: // explained by chance and autocorrelation
	case isLine && (!isStep || lineFits(values, at, inside)):
		creep.First, creep.Last = first, last-1
		s.Creeps = append(s.Creeps, creep)
	default:
		at += first
		i := slices.IndexFunc(changes, func(c Change) bool { return c.Index == at })
		s.Changes = append(s.Changes, Change{Index: at, P: math.Max(p, changes[i].P)})
		s.part(first, at, proposed, changes)
		s.part(at, last, proposed, changes)
	}
}

// lineFits reports whether a line explains values at least as well as the strongest step, or as all proposed steps, by
// Schwarz's criterion (BIC, Annals of Statistics 6, 1978). A step has two parameters: its position and its size. All are
// fitted by generalised least squares with the same autocorrelation: the smallest one that an explanation leaves.
func lineFits(values []float64, at int, proposed []int) bool {
	column := func(of func(i int) float64) []float64 {
		all := make([]float64, len(values))
		for i := range all {
			all[i] = of(i)
		}
		return all
	}
	step := func(from int) []float64 {
		return column(func(i int) float64 {
			if i < from {
				return 0
			}
			return 1
		})
	}
	all := seq.Map(proposed, step)
	explanations := []struct {
		columns    [][]float64
		parameters int
	}{{[][]float64{column(func(i int) float64 { return float64(i) })}, 1}, {[][]float64{step(at)}, 2}, {all, 2 * len(all)}}
	least := mostLag1
	for _, e := range explanations {
		r, _ := lag1(sse(values, e.columns...).residuals, len(e.columns)+1)
		least = min(least, max(0, r))
	}
	y, n := whitened(values, least), float64(len(values)-1)
	var bic []float64
	for _, e := range explanations {
		columns := seq.Map(e.columns, func(c []float64) []float64 { return whitened(c, least) })
		sum := max(sse(y, columns...).sum, 1e-12*dot(around(y), around(y)))
		bic = append(bic, n*math.Log(sum/n)+float64(e.parameters)*math.Log(n))
	}
	return bic[0] <= slices.Min(bic[1:])
}

// whitened returns values without their autocorrelation (Cochrane and Orcutt, Journal of the American Statistical
// Association 44, 1949).
func whitened(values []float64, r float64) []float64 {
	all := make([]float64, len(values)-1)
	for i := range all {
		all[i] = values[i+1] - r*values[i]
	}
	return all
}

// dependence is estimated from the residuals around steps and creeps.
func (s *Series) dependence() Dependence {
	var residuals []float64
	first, parameters := 0, 0
	for i := 0; i <= len(s.Changes); i++ {
		last := len(s.Values)
		if i < len(s.Changes) {
			last = s.Changes[i].Index
		}
		own := s.Values[first:last]
		parameters++
		if k := slices.IndexFunc(s.Creeps, func(c Creep) bool { return c.First == first && c.Last == last-1 }); k >= 0 {
			_, _, own = line(own)
			parameters++
		}
		residuals = append(residuals, around(own)...)
		first = last
	}
	return dependenceOf(residuals, parameters)
}
