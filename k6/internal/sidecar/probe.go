// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

const (
	// Quickly bounds a request that the sidecar answers at once.
	Quickly = 10 * time.Second
	// patienceS is how long the sidecar may hold an answer back until a probe ends, seconds.
	patienceS = 20
	// chunk is the number of samples of a request.
	chunk = 200_000
	// measuring is the state of a probe that has not ended.
	measuring = "running"
)

// Series are the samples of a probe's operations, in the order in which the operations ended.
type Series struct {
	NS []float64 `json:"values"`
	// EndsUS are the ends of the operations, µs since 1970; nil: all ended now.
	EndsUS []float64 `json:"ends_unix_us"`
}

// Probe is a probe that has ended.
type Probe struct {
	ID    string `json:"id"`
	State string `json:"state"`
	// Planned is the number of operations.
	Planned int64 `json:"planned"`
	// Outcome has the counts (sidecar/README.md); null if nothing was measured. Then Error, if it is not null, is the cause.
	Outcome json.RawMessage `json:"outcome"`
	Error   json.RawMessage `json:"error"`
	// Series are the samples by name.
	Series map[string]Series `json:"-"`
}

// Measure runs probes at the same time to their ends, and takes their samples. An error is one line.
func (c Client) Measure(ctx context.Context, specs []json.RawMessage) ([]Probe, error) {
	probes := make([]Probe, len(specs))
	for n, spec := range specs {
		if err := c.get(ctx, http.MethodPost, "/probes", spec, &probes[n]); err != nil {
			return nil, err
		}
	}
	for n := range probes {
		if err := c.take(ctx, &probes[n]); err != nil {
			return nil, err
		}
	}
	return probes, nil
}

// take follows a probe to its end, and takes its samples. The sidecar then forgets the probe.
func (c Client) take(ctx context.Context, p *Probe) error {
	for p.State = measuring; p.State == measuring; {
		if err := c.get(ctx, http.MethodGet, fmt.Sprintf("/probes/%s?wait_s=%d", p.ID, patienceS), nil, p); err != nil {
			return err
		}
	}
	var outcome struct {
		Series []struct {
			Name        string
			Count, Kept int
		}
	}
	if err := json.Unmarshal(p.Outcome, &outcome); p.Outcome != nil && err != nil {
		return err
	}
	p.Series = map[string]Series{}
	for _, s := range outcome.Series {
		if s.Kept < s.Count {
			return fmt.Errorf("a probe took %d samples, but at most %d are kept: set fewer operations or a lower RATE", s.Count, s.Kept)
		}
		var all Series
		for len(all.NS) < s.Kept {
			var some Series
			path := fmt.Sprintf("/probes/%s/series/%s?from=%d&limit=%d", p.ID, s.Name, len(all.NS), chunk)
			if err := c.get(ctx, http.MethodGet, path, nil, &some); err != nil {
				return err
			}
			if len(some.NS) == 0 || len(some.EndsUS) != len(some.NS) {
				return fmt.Errorf("sidecar: series %s ends at %d of %d samples", s.Name, len(all.NS), s.Kept)
			}
			all.NS, all.EndsUS = append(all.NS, some.NS...), append(all.EndsUS, some.EndsUS...)
		}
		p.Series[s.Name] = all
	}
	return c.get(ctx, http.MethodDelete, "/probes/"+p.ID, nil, nil)
}

// get is ask with a time limit and an error of one line.
func (c Client) get(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, patienceS*time.Second+Quickly)
	defer cancel()
	err := c.ask(ctx, method, path, body, answer)
	if unanswered := (*url.Error)(nil); errors.As(err, &unanswered) {
		return fmt.Errorf("the sidecar ended or does not answer (%s)", Briefly(err))
	}
	if err != nil {
		return fmt.Errorf("sidecar: %w", err)
	}
	return nil
}

// Briefly is the cause of a failed request in k6's words, without the address.
func Briefly(err error) string {
	var network *net.OpError
	var request *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "request timeout"
	case errors.As(err, &network) && errors.Is(err, syscall.ECONNREFUSED):
		return network.Op + ": connection refused"
	case errors.As(err, &network) && errors.Is(err, syscall.ECONNRESET):
		return network.Op + ": connection reset by peer"
	case errors.As(err, &request):
		return request.Err.Error()
	}
	return err.Error()
}
