// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"fmt"
	"testing"
)

func TestSilenceIsOfAllVirtualUsers(t *testing.T) {
	s := newShared()
	for n := range 10 {
		if since := s.unanswered(float64(n)); since >= 0 && n < leastUnanswered-1 {
			t.Errorf("silent since %g after %d requests", since, n+1)
		}
		s.answered()
	}
	// The first request that nobody answered may be the last one to tell so.
	for n, at := range []float64{50, 60, 40} {
		since := s.unanswered(at)
		if want := map[int]float64{0: -1, 1: -1, 2: 40}[n]; since != want {
			t.Errorf("%g after %d requests, want %g", since, n+1, want)
		}
	}
}

func TestOnceIsBounded(t *testing.T) {
	s := newShared()
	if !s.once("a") || s.once("a") || !s.once("b") {
		t.Error("a text is new once")
	}
	said := 0
	for n := range 2 * mostTexts {
		if s.once(fmt.Sprint(n)) {
			said++
		}
	}
	if said != mostTexts-2 {
		t.Errorf("%d lines, want %d", said, mostTexts-2)
	}
}

func TestTooManyDetailsAreOne(t *testing.T) {
	s := newShared()
	for n := range mostDetails {
		if detail := fmt.Sprint(n); s.distinct("publish http_other", detail) != detail {
			t.Error(detail)
		}
	}
	if got := s.distinct("publish http_other", "one more"); got != otherDetails {
		t.Error(got)
	}
	if got := s.distinct("publish http_other", "0"); got != "0" {
		t.Error(got)
	}
	if got := s.distinct("publish http_4xx", "one more"); got != "one more" {
		t.Error(got)
	}
}
