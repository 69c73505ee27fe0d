// SPDX-License-Identifier: AGPL-3.0-only

package record

import "sync"

// leastUnanswered is the number of consecutive unanswered requests after which a target counts as silent.
const leastUnanswered = 3

// shared is the data that all VUs of this process share. It is written to no file.
type shared struct {
	mu   sync.Mutex
	seen map[string]bool
	// details are the known details, by operation and kind.
	details map[string]map[string]bool
	// row is the number of consecutive unanswered requests over all VUs; since is the start of the first of them.
	row   int
	since float64
	// links is the traffic of links, by the row that used them.
	links map[string]linkUse
	// texts are a script's own, by name.
	texts map[string]string
}

func newShared() *shared {
	return &shared{seen: map[string]bool{}, details: map[string]map[string]bool{}, links: map[string]linkUse{}, texts: map[string]string{}}
}

// mostTexts bounds the texts that once remembers, and so the lines in a log.
const mostTexts = 200

// once reports whether a text is new. After mostSaid texts no text is new.
func (s *shared) once(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[text] || len(s.seen) >= mostTexts {
		return false
	}
	s.seen[text] = true
	return true
}

func (s *shared) share(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[name] = text
}

// text returns a text of share, or nil.
func (s *shared) text(name string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, known := s.texts[name]; known {
		return text
	}
	return nil
}

func (s *shared) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = 0
}

// unanswered notes an unanswered request. It returns the time since which the target has been silent, in ms on the
// test's clock, or -1 after too few requests.
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

// distinct is the detail itself, or one name for all if there are too many details.
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
