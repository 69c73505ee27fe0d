// SPDX-License-Identifier: AGPL-3.0-only

// Package seq maps, filters, groups and counts the items of slices.
package seq

import "slices"

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

// Find returns the first item that holds, false if none does.
func Find[A any](all []A, holds func(A) bool) (found A, ok bool) {
	if i := slices.IndexFunc(all, holds); i >= 0 {
		return all[i], true
	}
	return found, false
}

// Flat joins the lists of all items, in order; nil for no items.
func Flat[A, B any](all []A, of func(A) []B) (made []B) {
	for _, one := range all {
		made = append(made, of(one)...)
	}
	return made
}

// Given keeps the texts that are not empty.
func Given(all []string) []string {
	return Filter(all, func(text string) bool { return text != "" })
}

// Distinct keeps the first of equal items.
func Distinct[A comparable](all []A) (some []A) {
	for _, one := range all {
		if !slices.Contains(some, one) {
			some = append(some, one)
		}
	}
	return some
}

// Group puts items of the same key together, in the order of their first items.
func Group[K comparable, A any](all []A, of func(A) K) (groups [][]A) {
	place := map[K]int{}
	for _, one := range all {
		at, there := place[of(one)]
		if !there {
			at = len(groups)
			place[of(one)] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], one)
	}
	return groups
}

// Count is the number of items that hold.
func Count[A any](all []A, holds func(A) bool) int { return len(Filter(all, holds)) }
