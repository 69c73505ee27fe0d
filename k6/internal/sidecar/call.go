// SPDX-License-Identifier: AGPL-3.0-only

package sidecar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"windtunnel/k6/internal/fault"
)

// statusError is an answer with a status other than 2xx.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string { return e.message }

// Unsupported reports whether the sidecar says that this machine or user cannot run a testbed.
func Unsupported(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusNotImplemented
}

func (s *Sidecar) call(ctx context.Context, method, path string, body, answer any) error {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, reader)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	resp, err := sidecarClient.Do(req)
	if err != nil {
		return s.callFailed(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return s.callFailed(ctx, err)
	}
	if resp.StatusCode/100 != 2 {
		var answered struct {
			Error string `json:"error"`
			Mend  string `json:"mend"`
		}
		if json.Unmarshal(data, &answered) != nil || answered.Error == "" {
			answered.Error = "the sidecar answered " + resp.Status
		}
		message := fault.OneLine(answered.Error)
		if answered.Mend != "" {
			message += "; " + fault.OneLine(answered.Mend)
		}
		return &statusError{resp.StatusCode, message}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(data, answer)
}

// callFailed returns the end of the sidecar as the error, if it has ended, in place of a connection error.
func (s *Sidecar) callFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	select {
	case <-s.done:
		return s.Ended()
	case <-time.After(200 * time.Millisecond):
	}
	if ctx.Err() != nil {
		return errors.New("the sidecar did not answer in time; see " + s.log)
	}
	return fmt.Errorf("the sidecar does not answer: %w", err)
}

// The sidecar is on loopback, so requests must not use a proxy from the environment.
var sidecarClient = &http.Client{Transport: &http.Transport{}}
