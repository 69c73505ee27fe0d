// SPDX-License-Identifier: AGPL-3.0-only

// Package closest finds the name that a mistyped name probably means.
package closest

import (
	"strings"
	"unicode/utf8"
)

// Match returns the candidate nearest to name by edit distance, or "" if no candidate is near. A third of the name's
// letters, and at least two, may differ.
func Match(name string, candidates []string) string {
	return Within(name, candidates, max(2, utf8.RuneCountInString(name)/3))
}

// Within returns the nearest candidate with an edit distance of at most `most` from name, or "".
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

// distance is the number of runes of a to change, add, remove or swap with the next rune to get b (optimal string
// alignment). Two letters typed in the wrong order count as one mistake.
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	var before []int // the row before the previous row
	row := make([]int, len(rb)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range ra {
		next := make([]int, len(rb)+1)
		next[0] = i + 1
		for j, cb := range rb {
			changed := row[j]
			if ca != cb {
				changed++
			}
			next[j+1] = min(changed, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && ca == rb[j-1] && ra[i-1] == cb {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(rb)]
}
