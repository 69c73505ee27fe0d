// SPDX-License-Identifier: AGPL-3.0-only

package trend

import "math"

// fewestAside is how many points each side of a step has at least.
const fewestAside = 3

// stepF is for each place the F statistic of a step there, in the regression of each value on the one before it: the largest
// is the sup-F test of Andrews, Econometrica 61 (1993). The value before takes up the autocorrelation.
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

// near is how far a step may be from where Otava has it.
const near = 2

// strongest is the place of the strongest step among proposed ones, its statistic and its p-value. The p-value compares it with the strongest step
// anywhere in flat series of this autocorrelation.
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

// fit is what a regression leaves.
type fit struct {
	residuals []float64
	sum       float64
}

// sse regresses on columns and a constant. A column that the others explain is left out.
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

// project takes its part along b from v.
func project(v, b []float64) {
	by := dot(v, b) / dot(b, b)
	for i := range v {
		v[i] -= by * b[i]
	}
}
