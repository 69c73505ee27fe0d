// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Error probabilities of a comparison, over all its looks together.
const (
	// missed is the probability of calling a metric within the bound that is worse by the bound or more.
	missed = 0.02
	// broken is the probability that equal sides break the gate: a quarter for primary metrics, a quarter for kinds of
	// errors, and half for secondary metrics.
	broken = 0.01
	// Chance is the probability that chance alone raises a doubt, through a control that differs or through more errors
	// of B.
	Chance = 0.05
)

// looks are the numbers of pairs at which a comparison that runs until it knows takes a look; each is about 1.5 times
// the one before.
var looks = []int{12, 18, 26, 38, 56, 82, 120, 176, 258, 378, 554, 812, MostPairs}

// Look is one look at the pairs of a comparison, with its share of the error probability. The errors of several looks at
// most add up (Bonferroni), however they depend on each other, so the shares of all looks sum to 1.
type Look struct {
	// Number is the number of the look, from 1; 0 if the number of pairs was fixed, so that it is the only look.
	Number int
	// Comparisons is the number of comparisons made together, one for each scenario: they share the probability broken.
	// 0 counts as 1.
	Comparisons int
	// Failures says that kinds of errors are judged too. Then primary metrics have half of their share of the gate.
	Failures bool
}

// Next is the number of pairs at the first look after the given number of pairs.
func Next(pairs int) int {
	for _, n := range looks {
		if n > pairs {
			return n
		}
	}
	return MostPairs
}

// Looked is the number of looks at up to the given number of pairs, plus one if there are pairs after the last look.
func Looked(pairs int) int {
	i, exact := slices.BinarySearch(looks, pairs)
	if exact || pairs > 0 {
		i++
	}
	return i
}

// share is this look's share of the error probability: 1/(k(k+1)) for look k.
func (l Look) share() float64 {
	if l.Number == 0 {
		return 1
	}
	return 1 / float64(l.Number*(l.Number+1))
}

// within is the one-sided level of an interval.
func (l Look) within() float64 { return missed * l.share() }

// gate is this look's error probability for the gate, over all kinds of metrics.
func (l Look) gate() float64 { return broken * l.share() / float64(max(1, l.Comparisons)) }

// Primary metrics, kinds of errors and secondary metrics have separate levels, so that many of one kind do not hide
// another.
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

// Confidence is the confidence of one metric's interval at this look, 0 to 1.
func (l Look) Confidence() float64 { return 1 - 2*l.within() }

// FewestPairs is the smallest number of pairs for which this look has an interval.
func (l Look) FewestPairs() int { return FewestPairs(l.within()) }

// FewestToBreak is the smallest number of pairs with which one of the given number of metrics of a role can break the
// gate at this look.
func (l Look) FewestToBreak(role Role, metrics int) int {
	return FewestPairs(l.gateOf(role) / float64(max(1, metrics)))
}

// FirstIsB reports whether a pair, from 1, begins with B. The order is random for each pair. With equal sides, this
// alone makes a pair's difference symmetric around 0, whatever the drift or disturbance. The fixed order A B B A cancels
// a steady drift, but a disturbance every four runs stays in step with one side. A tide of 10 % then broke the gate in 3
// of 100 comparisons of equal sides, even if the order of each two pairs was random.
func FirstIsB(pair int, lot uint64) bool {
	return rand.New(rand.NewPCG(lot, uint64(pair))).Uint64()&1 == 1
}

// Lot is derived from a name, so that the order is reproducible.
func Lot(name string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	return hash.Sum64()
}

// Order is the random order of the sides in a round, from 1. Each side is as often before any other side as after it.
func Order(sides, round int, lot uint64) []int {
	return rand.New(rand.NewPCG(lot, uint64(round))).Perm(sides)
}
