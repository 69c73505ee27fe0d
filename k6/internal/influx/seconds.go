// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel/k6/internal/seq"
)

// Seconds is a set of whole seconds of Unix time.
type Seconds struct {
	spans []span // sorted, with gaps between them
}

// span is a range of seconds, from first to last inclusive.
type span struct{ first, last int64 }

// Add adds a second.
func (s *Seconds) Add(second int64) { s.add(span{second, second}) }

// Union adds all seconds of another set.
func (s *Seconds) Union(other Seconds) {
	for _, o := range other.spans {
		s.add(o)
	}
}

func (s *Seconds) add(added span) {
	begin := 0
	for begin < len(s.spans) && s.spans[begin].last < added.first-1 {
		begin++
	}
	end := begin
	for end < len(s.spans) && s.spans[end].first <= added.last+1 {
		added.first = min(added.first, s.spans[end].first)
		added.last = max(added.last, s.spans[end].last)
		end++
	}
	s.spans = slices.Replace(s.spans, begin, end, added)
}

// Count is the number of seconds in the set.
func (s Seconds) Count() int64 {
	var n int64
	for _, one := range s.spans {
		n += one.last - one.first + 1
	}
	return n
}

// Bounds returns the first and the last second; both are zero times for an empty set.
func (s Seconds) Bounds() (first, last time.Time) {
	if len(s.spans) == 0 {
		return first, last
	}
	return time.Unix(s.spans[0].first, 0).UTC(), time.Unix(s.spans[len(s.spans)-1].last, 0).UTC()
}

// String returns text such as 100-160,170-170; ParseSeconds parses it.
func (s Seconds) String() string {
	return strings.Join(seq.Map(s.spans, func(one span) string { return fmt.Sprintf("%d-%d", one.first, one.last) }), ",")
}

// ParseSeconds parses the text of String and skips malformed parts.
func ParseSeconds(text string) Seconds {
	var s Seconds
	for part := range strings.SplitSeq(text, ",") {
		from, to, _ := strings.Cut(part, "-")
		first, err := strconv.ParseInt(from, 10, 64)
		last, err2 := strconv.ParseInt(to, 10, 64)
		if err == nil && err2 == nil && first <= last {
			s.add(span{first, last})
		}
	}
	return s
}
