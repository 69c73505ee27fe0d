// SPDX-License-Identifier: AGPL-3.0-only

// Package closest finds what a mistyped name was probably meant to be.
package closest

import (
	"strings"
	"unicode/utf8"
)

// Match returns the candidate nearest to name by edit distance, or "" where none is near: a
// third of the name's letters, and at least two, may differ.
func Match(name string, candidates []string) string {
	return Within(name, candidates, max(2, utf8.RuneCountInString(name)/3))
}

// Within returns the nearest candidate whose edit distance from name is at most so much, or "".
func Within(name string, candidates []string, most int) string {
	best, bestDistance := "", most+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Hint returns `; did you mean "X"?` for the nearest candidate, or "".
func Hint(name string, candidates []string) string {
	if m := Match(name, candidates); m != "" {
		return "; did you mean " + m + "?"
	}
	return ""
}

// distance is the Levenshtein distance of a and b in runes.
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	row := make([]int, len(rb)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range ra {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range rb {
			cost := diagonal
			if ca != cb {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(rb)]
}
