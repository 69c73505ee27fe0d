// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"context"
	"net/http"
	"time"
)

// Process is one of an instance. Exit is how it ended, nil while it runs.
type Process struct {
	Name string  `json:"name"`
	Exit *string `json:"exit"`
}

// Processes returns those of an instance.
func (s *Sidecar) Processes(instance string) ([]Process, error) {
	var found struct{ Processes []Process }
	err := s.briefly(http.MethodGet, "/instances/"+instance, nil, &found)
	return found.Processes, err
}

// partTimeout bounds the question what is being measured, which no run waits for longer.
const partTimeout = 200 * time.Millisecond

// Parts are what is being measured just now, such as "vless-tls, turn 3"; none where it cannot tell.
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
