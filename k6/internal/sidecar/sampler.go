// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"context"
	"errors"
	"net/http"
	"time"

	"windtunnel/k6/internal/stream"
)

// Sample calls used every second with the usage since the previous call, until stop is called; over is true in the last
// call. It covers an instance ("" for none) and the processes of k6, by name, through its own windows. probed says three
// things: the sidecar's own threads probe, the scenario starts instances, and there may be links. If the windows fail,
// Sample reports nothing: the scenario's own window reports the error.
func (s *Sidecar) Sample(instance string, k6 map[string]int, probed bool, used func(look stream.Look, at time.Time, over bool)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := sampler{sidecar: s, probed: probed, known: map[string]bool{instance: true}, links: map[string]stream.Link{}}
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
			look, gone := s.look()
			if gone {
				return
			}
			used(look, at, over)
		}
	}()
	return func() { cancel(); <-done }
}

// sampler reads windows. The first is for k6 and the given instance, the others for instances that a probed scenario has
// started.
type sampler struct {
	sidecar *Sidecar
	probed  bool
	known   map[string]bool // instances with a window
	windows []*openWindow
	links   map[string]stream.Link // last state, by instance
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

// look returns the usage of each window and link since the last look. gone says that this was the last look: the first
// window no longer exists, or the sidecar has ended.
func (s *sampler) look() (found stream.Look, gone bool) {
	var open []*openWindow
	for i, w := range s.windows {
		now, err := s.sidecar.usage(w.id)
		var status *statusError
		unknown := errors.As(err, &status) && status.code == http.StatusNotFound
		if i == 0 && unknown || !s.sidecar.Alive() {
			return stream.Look{}, true
		}
		if span := (stream.Span{Before: w.last, Now: now}); err == nil && !span.TooShort() { // otherwise the next look includes this time
			found.Spans = append(found.Spans, span)
			w.last = now
		}
		if i == 0 || !unknown && !now.Closed {
			open = append(open, w)
		}
	}
	s.windows = open
	if s.probed {
		found.Links = s.lookAtInstances()
	}
	return found, false
}

// lookAtInstances opens windows for new instances, and returns the usage of each link.
func (s *sampler) lookAtInstances() (links []stream.LinkSpan) {
	instances, err := s.sidecar.instances()
	if err != nil {
		return nil
	}
	before := s.links
	s.links = map[string]stream.Link{}
	for _, i := range instances {
		if !s.known[i.ID] {
			s.known[i.ID] = true
			s.open(windowRequest{Instance: i.ID})
		}
		if i.Link != nil {
			links = append(links, stream.LinkSpan{Before: before[i.ID], Now: *i.Link})
			s.links[i.ID] = *i.Link
		}
	}
	return links
}

func (s *sampler) close() {
	for _, w := range s.windows {
		s.sidecar.closeWindow(w.id)
	}
}
