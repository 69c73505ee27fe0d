// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"context"
	"errors"
	"net/http"
	"time"

	"windtunnel/k6/internal/stream"
)

// Sample calls used each second with what an instance, "" for none, and the processes of k6 by their names have used since it was last called, by windows of
// its own, until stop is called; the last time over is true. Probed says that the sidecar's own threads probe, and that the
// scenario starts instances by itself. Where that cannot be had nothing is said: the scenario's own window tells.
func (s *Sidecar) Sample(instance string, k6 map[string]int, probed bool, used func(spans []stream.Span, at time.Time, over bool)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := sampler{sidecar: s, probed: probed, known: map[string]bool{instance: true}}
		defer s.close()
		request := windowRequest{Instance: instance, PIDs: k6, Sidecar: s.probed}
		if !s.open(request) {
			return
		}
		for over := false; !over; {
			select {
			case <-ctx.Done():
				over = true
			case <-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second))):
			}
			at := time.Now()
			spans, gone := s.look()
			if gone {
				return
			}
			used(spans, at, over)
		}
	}()
	return func() { cancel(); <-done }
}

// sampler looks at windows: the first is of k6 and the instance that it was given, the others of instances
// that a probed scenario has started by itself.
type sampler struct {
	sidecar *Sidecar
	probed  bool
	known   map[string]bool // instances
	windows []*openWindow
}

type openWindow struct {
	id   string
	last stream.Usage
}

func (s *sampler) open(request windowRequest) bool {
	id, err := s.sidecar.openWindow(request)
	if err == nil {
		s.windows = append(s.windows, &openWindow{id: id})
	}
	return err == nil
}

// look returns a span of each window since it was last read. Gone says that there will be no more: the first
// window is no longer there, or the sidecar has ended.
func (s *sampler) look() (spans []stream.Span, gone bool) {
	var open []*openWindow
	for i, w := range s.windows {
		now, err := s.sidecar.usage(w.id)
		var status *statusError
		unknown := errors.As(err, &status) && status.code == http.StatusNotFound
		if i == 0 && unknown || !s.sidecar.Alive() {
			return nil, true
		}
		if span := (stream.Span{Before: w.last, Now: now}); err == nil && !span.TooShort() { // else the next one has it
			spans = append(spans, span)
			w.last = now
		}
		if i == 0 || !unknown && !now.Closed {
			open = append(open, w)
		}
	}
	s.windows = open
	if s.probed {
		s.openNew()
	}
	return spans, false
}

// openNew opens windows over instances that are new.
func (s *sampler) openNew() {
	ids, err := s.sidecar.instances()
	if err != nil {
		return
	}
	for _, id := range ids {
		if !s.known[id] {
			s.known[id] = true
			s.open(windowRequest{Instance: id})
		}
	}
}

func (s *sampler) close() {
	for _, w := range s.windows {
		s.sidecar.closeWindow(w.id)
	}
}
