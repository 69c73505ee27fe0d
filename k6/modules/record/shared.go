// SPDX-License-Identifier: AGPL-3.0-only

package record

import "sync"

// leastUnanswered is how many requests in a row nobody answers before a target counts as silent.
const leastUnanswered = 3

// shared is what the virtual users of this process know together. It reaches no file.
type shared struct {
	mu   sync.Mutex
	said map[string]bool
	// details are those that were met, by operation and kind.
	details map[string]map[string]bool
	// row is how many requests in a row, of all virtual users, nobody answered; since is the start of the first one.
	row   int
	since float64
}

func newShared() *shared {
	return &shared{said: map[string]bool{}, details: map[string]map[string]bool{}}
}

// mostSaid bounds what once remembers, and so the lines of a log.
const mostSaid = 200

// once reports whether nobody has said the text before. After mostSaid texts nothing is new.
func (s *shared) once(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said[text] || len(s.said) >= mostSaid {
		return false
	}
	s.said[text] = true
	return true
}

// answered notes that the target answered one of the virtual users.
func (s *shared) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = 0
}

// unanswered notes a request that nobody answered, and returns since when the target has answered nobody, ms on the test's
// clock; -1: too few requests tell.
func (s *shared) unanswered(startedAt float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row == 0 || startedAt < s.since {
		s.since = startedAt
	}
	s.row++
	if s.row < leastUnanswered {
		return -1
	}
	return s.since
}

// distinct is the detail itself, or one name for all where there are too many of them.
func (s *shared) distinct(of, detail string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.details[of]
	if known == nil {
		known = map[string]bool{}
		s.details[of] = known
	}
	if !known[detail] && len(known) >= mostDetails {
		return otherDetails
	}
	known[detail] = true
	return detail
}
