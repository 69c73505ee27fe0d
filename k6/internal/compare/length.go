// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"strings"
	"time"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/format"
)

// Length is how many pairs to make: a fixed number, or, with 0, as many as the comparison needs to know. In the second
// case no pair begins after Most. Spare is the least number of extra pairs that may replace disturbed ones of a fixed number.
type Length struct {
	Pairs int
	Most  time.Duration
	Spare int
}

// spare is how many extra pairs replace disturbed ones, beyond a fixed number.
func (l Length) spare() int { return max(l.Spare, l.Pairs/2) }

// decided reports whether a scenario's comparison needs no more pairs. It takes a look if one is due, and sets q.lookText to
// the result.
func (q *Request) decided(length Length) bool {
	if length.Pairs > 0 {
		return q.whole() >= length.Pairs || len(q.A) >= length.Pairs+length.spare()
	}
	if runsBreak(q.A, q.B) || q.hopeless() {
		q.look()
		return true
	}
	pairs := q.whole()
	if pairs < difference.Next(q.looked) {
		return false
	}
	q.look()
	c := Make(*q)
	q.lookText = fmt.Sprintf("%s of %s: %s", format.Plural(pairs, "pair"), q.Scenario, strings.Join(append([]string{c.Verdict}, c.Reasons[:min(1, len(c.Reasons))]...), ": "))
	return pairs >= difference.MostPairs || c.Verdict == Fail || c.Verdict == Pass || c.Doubt == IsMissing
}

// hopeless reports whether most runs of a side are unusable after the number of pairs that decides a quiet comparison.
func (q *Request) hopeless() bool {
	n := len(q.A)
	return n >= difference.Next(0) && 2*min(len(good(q.A)), len(good(q.B))) < n
}

// whole counts the undisturbed pairs.
func (q *Request) whole() int {
	n := 0
	for i := range min(len(q.A), len(q.B)) {
		if !disturbed(q.A[i]) && !disturbed(q.B[i]) {
			n++
		}
	}
	return n
}

// look takes the next look. Each look spends its share of the error probability, whether or not it decides.
func (q *Request) look() {
	q.Look.Number++
	q.looked = q.whole()
}

// end takes the last look of a comparison that runs until it knows, if there are pairs after the previous look.
func (q *Request) end(length Length) {
	if length.Pairs == 0 && (q.Look.Number == 0 || q.whole() > q.looked) {
		q.look()
	}
}
