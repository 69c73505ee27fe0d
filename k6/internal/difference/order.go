// SPDX-License-Identifier: AGPL-3.0-only

package difference

import (
	"hash/fnv"
	"math/rand/v2"
)

// FirstIsB tells whether a pair, from 1, begins with B: by lot, for each pair anew. That alone makes the difference of a
// pair of equal sides as often above 0 as below, whatever drifts or comes and goes. A B B A would cancel a steady drift, but
// what returns every four runs stays in step with one side: with a tide of 10 % that broke the gate in 3 of 100 comparisons
// of equal sides, even with each two pairs turned by lot.
func FirstIsB(pair int, lot uint64) bool {
	return rand.New(rand.NewPCG(lot, uint64(pair))).Uint64()&1 == 1
}

// Lot is drawn from a name, so that the order can be told again.
func Lot(name string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	return hash.Sum64()
}

// Order is in which order so many sides are measured in a round, from 1, by lot: each as often before any other as behind it.
func Order(sides, round int, lot uint64) []int {
	return rand.New(rand.NewPCG(lot, uint64(round))).Perm(sides)
}
