// SPDX-License-Identifier: AGPL-3.0-only

package trend

import "math"

// fewestAside is the smallest number of points on each side of a step.
const fewestAside = 3

// stepF is the F statistic of a step at each position, in the regression of each value on the previous value. The
// largest is the sup-F test of Andrews, Econometrica 61 (1993). The previous value absorbs the autocorrelation.
func stepF(values []float64) []float64 {
	y, z := values[1:], around(values[:len(values)-1])
	n := float64(len(y))
	base := sse(y, z)
	e, zz := base.residuals, 0.0
	for _, v := range z {
		zz += v * v
	}
	f := make([]float64, len(values))
	var sumE, sumZ float64
	for at := len(y) - 1; at > 0; at-- {
		// The step begins at y[at], which is values[at+1].
		sumE, sumZ = sumE+e[at], sumZ+z[at]
		count := n - float64(at)
		own := count - count*count/n
		if zz > 0 {
			own -= sumZ * sumZ / zz
		}
		if min(at+1, len(y)-at) < fewestAside || own < 1e-9 {
			continue
		}
		explained := sumE * sumE / own
		rest := math.Max(base.sum-explained, 1e-12*base.sum)
		if rest > 0 {
			f[at+1] = explained / (rest / (n - 3))
		}
	}
	return f
}

func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = math.Max(most, v)
	}
	return most
}

// near is the largest distance between a step and Otava's position of it, in points.
const near = 2

// strongest is the position of the strongest of the proposed steps, with its p-value. The p-value compares it with the
// strongest step anywhere in flat series with the same autocorrelation.
func strongest(values []float64, proposed []int) (at int, p float64) {
	f := stepF(values)
	most := -1.0
	for _, place := range proposed {
		for i := max(0, place-near); i <= min(len(f)-1, place+near); i++ {
			if f[i] > most {
				most, at = f[i], place
			}
		}
	}
	if most <= 0 {
		return at, 1
	}
	r, deviation := lag1(around(values), 1)
	return at, share(len(values), r, deviation, most, func(flat []float64) float64 { return largest(stepF(flat)) })
}

// fit is the residuals of a regression.
type fit struct {
	residuals []float64
	sum       float64
}

// sse regresses y on columns and a constant. It skips a column that the other columns explain.
func sse(y []float64, columns ...[]float64) fit {
	residuals := around(y)
	var basis [][]float64
	for _, column := range columns {
		own := around(column)
		before := dot(own, own)
		for _, b := range basis {
			project(own, b)
		}
		if dot(own, own) <= 1e-9*before {
			continue
		}
		basis = append(basis, own)
		project(residuals, own)
	}
	return fit{residuals, dot(residuals, residuals)}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// project subtracts from v its component along b.
func project(v, b []float64) {
	by := dot(v, b) / dot(b, b)
	for i := range v {
		v[i] -= by * b[i]
	}
}
