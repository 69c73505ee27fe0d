// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"context"
	"net/http"
	"time"

	"windtunnel/k6/internal/stream"
)

const windowTimeout = 2 * time.Second

// windowRequest says what a window measures; Sidecar is the sidecar itself, whose threads probe.
type windowRequest struct {
	Instance string         `json:"instance,omitempty"`
	PIDs     map[string]int `json:"pids,omitempty"`
	Sidecar  bool           `json:"sidecar,omitempty"`
	Peaks    bool           `json:"peaks"` // always false: the scenario's own window has the peaks, and pays their cost
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

// closeWindow closes a window; it is no error if the window is gone already.
func (s *Sidecar) closeWindow(window string) {
	_ = s.briefly(http.MethodPost, "/windows/"+window+"/close", map[string]any{}, nil)
}

// running is an instance; Link is nil if it was started without one.
type running struct {
	ID   string
	Link *stream.Link
}

func (s *Sidecar) instances() (all []running, err error) {
	err = s.briefly(http.MethodGet, "/instances", nil, &all)
	return all, err
}

// Process is a process of an instance. Exit says how it ended, nil while it runs.
type Process struct {
	Name string  `json:"name"`
	Exit *string `json:"exit"`
}

// Processes returns the processes of an instance.
func (s *Sidecar) Processes(instance string) ([]Process, error) {
	var found struct{ Processes []Process }
	err := s.briefly(http.MethodGet, "/instances/"+instance, nil, &found)
	return found.Processes, err
}

// Killed returns how many processes of systems with the run's limits the kernel has killed for memory; 0 if unknown.
func (s *Sidecar) Killed() int {
	var found struct{ Killed int }
	_ = s.briefly(http.MethodGet, "/limits", nil, &found)
	return found.Killed
}

// partTimeout bounds the query for the current part, so that it does not delay a run.
const partTimeout = 200 * time.Millisecond

// Parts are the parts that are measured now, such as "vless-tls, turn 3"; nil if unknown.
func (s *Sidecar) Parts() []string {
	ctx, cancel := context.WithTimeout(context.Background(), partTimeout)
	defer cancel()
	var now struct {
		Parts []string `json:"parts"`
	}
	if s.call(ctx, http.MethodGet, "/windows", nil, &now) != nil {
		return nil
	}
	return now.Parts
}
