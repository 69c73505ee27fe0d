// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"context"
	"net/http"
	"time"

	"windtunnel/k6/internal/result"
)

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

// Killed says how often the kernel killed processes of an instance for memory, in words; "" for never, or if unknown.
func (s *Sidecar) Killed(instance string) string {
	var found struct{ Limits *result.SystemLimits }
	err := s.briefly(http.MethodGet, "/instances/"+instance, nil, &found)
	if limits := found.Limits; err == nil && limits != nil && limits.Killed != nil && *limits.Killed > 0 {
		return limits.Killing() + " at " + limits.Text
	}
	return ""
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
