// SPDX-License-Identifier: AGPL-3.0-only

package difference

import "slices"

// How often a comparison may err, over all its looks together.
const (
	// missed is how often a metric that is worse by the bound or more may be called within it.
	missed = 0.02
	// broken is how often equal sides may break the gate: a quarter of it by primary metrics, a quarter by kinds of errors, and half
	// by secondary metrics.
	broken = 0.01
	// Chance is how often chance alone may raise a doubt: by a control that differs, or by errors of which B has more.
	Chance = 0.05
)

// looks are the numbers of pairs at which a comparison that runs until it knows looks at them; each is about half as many
// again as the one before.
var looks = []int{12, 18, 26, 38, 56, 82, 120, 176, 258, 378, 554, 812, MostPairs}

// Look is one look at the pairs of a comparison, and what may be spent on it. The errors of several looks add up at most
// (Bonferroni), however they depend on each other, so that the shares of all looks sum to 1.
type Look struct {
	// Number of it, from 1; 0 where the number of pairs was fixed before: it is the only look.
	Number int
	// Comparisons that are made at once, of several scenarios: they share what may be broken. 0 counts as 1.
	Comparisons int
	// Failures: kinds of errors are judged, too. Primary metrics have half as much of the gate then.
	Failures bool
}

// Next is the number of pairs of the first look with more than so many.
func Next(pairs int) int {
	for _, n := range looks {
		if n > pairs {
			return n
		}
	}
	return MostPairs
}

// Looked is the number of looks at so many pairs or fewer, one more where there are pairs beyond the last of them.
func Looked(pairs int) int {
	i, exact := slices.BinarySearch(looks, pairs)
	if exact || pairs > 0 {
		i++
	}
	return i
}

// share of all errors that this look may make: of look k 1/(k(k+1)).
func (l Look) share() float64 {
	if l.Number == 0 {
		return 1
	}
	return 1 / float64(l.Number*(l.Number+1))
}

// within is the one-sided level of an interval.
func (l Look) within() float64 { return missed * l.share() }

// gate is what this look may spend on errors of the gate, of all kinds together.
func (l Look) gate() float64 { return broken * l.share() / float64(max(1, l.Comparisons)) }

// Primary metrics, kinds of errors and secondary metrics have separate levels, so that a great number of one does not hide another.
func (l Look) primaryGate() float64 {
	if l.Failures {
		return l.gate() / 4
	}
	return l.gate() / 2
}
func (l Look) failureGate() float64   { return l.gate() / 4 }
func (l Look) secondaryGate() float64 { return l.gate() / 2 }

// gateOf is the level that the metrics of a role share.
func (l Look) gateOf(role Role) float64 {
	if role == Primary {
		return l.primaryGate()
	}
	return l.secondaryGate()
}

// Confidence is that of the interval of one metric at this look, 0 to 1.
func (l Look) Confidence() float64 { return 1 - 2*l.within() }

// FewestPairs is the least number of pairs of which an interval of this look can be had.
func (l Look) FewestPairs() int { return FewestPairs(l.within()) }

// FewestToBreak is the least number of pairs with which one of so many metrics of a role can break the gate at this look.
func (l Look) FewestToBreak(role Role, metrics int) int {
	return FewestPairs(l.gateOf(role) / float64(max(1, metrics)))
}
