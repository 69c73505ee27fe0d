// SPDX-License-Identifier: AGPL-3.0-only

// Package seq maps, filters and counts the items of slices.
package seq

// Map applies a function to each item, and keeps the order; nil for no items.
func Map[A, B any](all []A, of func(A) B) (made []B) {
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}

// Filter keeps the items that hold, and their order; nil for no items.
func Filter[A any](all []A, holds func(A) bool) (some []A) {
	for _, one := range all {
		if holds(one) {
			some = append(some, one)
		}
	}
	return some
}

// Count is the number of items that hold.
func Count[A any](all []A, holds func(A) bool) int { return len(Filter(all, holds)) }
