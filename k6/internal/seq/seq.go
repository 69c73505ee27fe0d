// SPDX-License-Identifier: AGPL-3.0-only

// Package seq has what many loops over slices do.
package seq

// The result of Of has what a function makes of each, in their order; it is nil for none.
func Of[A, B any](all []A, of func(A) B) (made []B) {
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}

// Where are those that hold, in their order; nil for none.
func Where[A any](all []A, holds func(A) bool) (some []A) {
	for _, one := range all {
		if holds(one) {
			some = append(some, one)
		}
	}
	return some
}

// Count is the number of those that hold.
func Count[A any](all []A, holds func(A) bool) int { return len(Where(all, holds)) }
