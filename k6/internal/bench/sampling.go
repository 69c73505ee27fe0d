// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"errors"
	"net/http"
	"time"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/stream"
)

// sample streams each second what k6 and the testbed use, by windows of the sidecar of its own, until stop
// is called. Where that cannot be had nothing is said: the scenario's own window tells.
func (b *session) sample(j job, instance Instance, pid int) (stop func()) {
	if b.stream == nil || b.sidecar == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := sampler{sidecar: b.sidecar, probed: environment.Probed(j.scenario.System), known: map[string]bool{instance.ID: true}}
		defer s.close()
		request := windowRequest{Instance: instance.ID, PIDs: map[string]int{"k6": pid}, Sidecar: s.probed}
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
			b.stream.Used(b.of(j), spans, at, over)
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

// windowTimeout bounds a request about windows.
const windowTimeout = 2 * time.Second

// windowRequest says what a window is over; Sidecar is the sidecar itself, whose threads probe.
type windowRequest struct {
	Instance string         `json:"instance,omitempty"`
	PIDs     map[string]int `json:"pids,omitempty"`
	Sidecar  bool           `json:"sidecar,omitempty"`
	Peaks    bool           `json:"peaks"` // never: the scenario's own window has them, and pays for them
}

func (s *Sidecar) briefly(method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), windowTimeout)
	defer cancel()
	return s.call(ctx, method, path, body, answer)
}

func (s *Sidecar) openWindow(request windowRequest) (id string, err error) {
	var opened struct{ ID string }
	err = s.briefly(http.MethodPost, "/windows", request, &opened)
	return opened.ID, err
}

func (s *Sidecar) usage(window string) (u stream.Usage, err error) {
	err = s.briefly(http.MethodGet, "/windows/"+window, nil, &u)
	return u, err
}

// closeWindow ends a window; one that is gone already is no error.
func (s *Sidecar) closeWindow(window string) {
	_ = s.briefly(http.MethodPost, "/windows/"+window+"/close", map[string]any{}, nil)
}

func (s *Sidecar) instances() ([]string, error) {
	var running []struct{ ID string }
	err := s.briefly(http.MethodGet, "/instances", nil, &running)
	ids := make([]string, len(running))
	for i, one := range running {
		ids[i] = one.ID
	}
	return ids, err
}
