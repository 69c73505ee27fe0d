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
	"net/url"
	"time"

	"windtunnel/k6/internal/exit"
)

type statusError struct {
	code    int
	message string
	cause   string // the sidecar's word, "" if it has none
}

func (e *statusError) Error() string { return e.message }

// Unsupported reports whether the sidecar says that this machine or user cannot run a testbed.
func Unsupported(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusNotImplemented
}

// KilledForMemory reports whether a testbed did not start because the kernel killed its system for memory.
func KilledForMemory(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.cause == "killed_for_memory"
}

// Client sends requests to the API of a sidecar (sidecar/README.md).
type Client struct {
	URL   string
	Token string // a secret, "" if the sidecar requires no token
}

// Answer is an answer of the sidecar with any status.
type Answer struct {
	Status int
	Body   []byte
}

// Err is nil for a success. Any other answer is one line: the cause, and the remedy if the sidecar knows one.
func (a Answer) Err() error {
	if a.Status/100 == 2 {
		return nil
	}
	var answered struct {
		Error string `json:"error"`
		Mend  string `json:"mend"`
		Cause struct {
			Is string `json:"is"`
		} `json:"cause"`
	}
	if json.Unmarshal(a.Body, &answered) != nil || answered.Error == "" {
		answered.Error = fmt.Sprintf("the sidecar answered %d %s", a.Status, http.StatusText(a.Status))
	}
	message := exit.OneLine(answered.Error)
	if answered.Mend != "" {
		message += "; " + exit.OneLine(answered.Mend)
	}
	return &statusError{a.Status, message, answered.Cause.Is}
}

// answerMost bounds an answer, bytes. The largest one has 200,000 samples of a probe.
const answerMost = 64 << 20

// Do sends a request with a JSON body; nil: without one. An *url.Error says that no answer came.
func (c Client) Do(ctx context.Context, method, path string, body any) (answer Answer, err error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, reader)
	if err != nil {
		return answer, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := sidecarClient.Do(req)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	answer.Status = resp.StatusCode
	if answer.Body, err = io.ReadAll(io.LimitReader(resp.Body, answerMost)); err != nil {
		err = &url.Error{Op: method, URL: path, Err: err}
	}
	return answer, err
}

// ask decodes a successful answer into answer, if that is not nil. It returns an *url.Error if no answer came.
func (c Client) ask(ctx context.Context, method, path string, body, answer any) error {
	answered, err := c.Do(ctx, method, path, body)
	if err == nil {
		err = answered.Err()
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(answered.Body, answer)
}

func (s *Sidecar) call(ctx context.Context, method, path string, body, answer any) error {
	err := s.ask(ctx, method, path, body, answer)
	if unanswered := (*url.Error)(nil); errors.As(err, &unanswered) {
		return s.callFailed(ctx, err)
	}
	return err
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
