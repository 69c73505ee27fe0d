// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// The paths of the API. All are POST with JSON, except the clock and the body of the record.
const (
	PathClock    = "/v1/clock"
	PathRegister = "/v1/register"
	PathSetUp    = "/v1/set-up"
	PathMade     = "/v1/made"
	PathReady    = "/v1/ready"
	PathBeat     = "/v1/beat"
	PathStop     = "/v1/stop"
	PathLoaded   = "/v1/loaded"
	PathTornDown = "/v1/torn-down"
	PathLeave    = "/v1/leave"
	PathRecord   = "/v1/record"
	PathBye      = "/v1/bye"
	PathDraft    = "/v1/draft"
	PathWhole    = "/v1/whole"
	PathValues   = "/v1/values"
)

// SumHeader is the header with the SHA-256 of a record in hexadecimal, NumberHeader the one with the runner's number.
const (
	SumHeader    = "X-Windtunnel-Sha256"
	NumberHeader = "X-Windtunnel-Runner"
)

// Said is the body of a runner's request.
type Said struct {
	Number int `json:"number"`
	// Why says why the runner ended, why its load ended early, or why its tear-down failed; "" if all went as planned.
	Why string `json:"why,omitempty"`
	// Data is the return value of the runner's set-up.
	Data json.RawMessage `json:"data,omitempty"`
	// Metric is the metric whose values are requested.
	Metric string `json:"metric,omitempty"`
}

const (
	mostJSON    = 64 << 20 // largest return value of a set-up
	readHeaders = 10 * time.Second
)

// Handler serves the API to clients with the token.
func (c *Coordinator) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+PathClock, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]float64{"unix_ms": unixMS(Steady())}, nil)
	})
	mux.HandleFunc("POST "+PathRegister, told(func(_ context.Context, asked Registration) (any, error) {
		return Answer{Together: c.id}, c.register(asked)
	}))
	for path, does := range map[string]func(context.Context, Said) (Answer, error){
		PathSetUp:    func(ctx context.Context, s Said) (Answer, error) { return c.setUp(ctx, s.Number) },
		PathMade:     func(_ context.Context, s Said) (Answer, error) { return Answer{}, c.made(s.Number, s.Data) },
		PathReady:    func(ctx context.Context, s Said) (Answer, error) { return c.ready(ctx, s.Number) },
		PathBeat:     func(_ context.Context, s Said) (Answer, error) { return c.beat(s.Number) },
		PathStop:     func(_ context.Context, s Said) (Answer, error) { return Answer{}, c.stopBy(s.Number, s.Why) },
		PathLoaded:   func(ctx context.Context, s Said) (Answer, error) { return c.loaded(ctx, s.Number, s.Why) },
		PathTornDown: func(_ context.Context, s Said) (Answer, error) { return Answer{}, c.tornDown(s.Number, s.Why) },
		PathWhole:    func(ctx context.Context, s Said) (Answer, error) { return c.othersThere(ctx, s.Number) },
		PathBye:      func(_ context.Context, s Said) (Answer, error) { return Answer{}, c.bye(s.Number) },
		PathLeave:    func(_ context.Context, s Said) (Answer, error) { return Answer{}, c.withdraw(s.Number, s.Why) },
	} {
		mux.HandleFunc("POST "+path, told(func(ctx context.Context, body Said) (any, error) { return does(ctx, body) }))
	}
	mux.HandleFunc("POST "+PathValues, told(func(_ context.Context, body Said) (any, error) {
		found, err := c.values(body.Number, body.Metric)
		return map[string]any{"values": found}, err
	}))
	for path, takes := range map[string]func(int, string, io.Reader) error{PathRecord: c.take, PathDraft: c.takeDraft} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var number int
			if err := json.Unmarshal([]byte(r.Header.Get(NumberHeader)), &number); err != nil {
				answer(w, nil, &refusal{http.StatusBadRequest, NumberHeader + ": a number is wanted"})
				return
			}
			answer(w, Answer{}, takes(number, r.Header.Get(SumHeader), r.Body))
		})
	}
	return c.guarded(mux)
}

// told handles a request with a body of JSON.
func told[T any](does func(context.Context, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		if err := read(w, r, &body); err != nil {
			answer(w, nil, err)
			return
		}
		reply, err := does(r.Context(), body)
		answer(w, reply, err)
	}
}

func (c *Coordinator) guarded(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + c.config.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			answer(w, nil, &refusal{http.StatusUnauthorized, "wrong token: COORDINATOR_TOKEN must be the coordinator's"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// stopBy is Stop on request of a runner.
func (c *Coordinator) stopBy(number int, why string) error {
	return c.of(number, func(r *runner) error {
		c.stopAll(c.name(r.number) + ": " + why + ": all are stopped")
		return nil
	})
}

func read(w http.ResponseWriter, r *http.Request, into any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostJSON))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return &refusal{http.StatusBadRequest, "a request cannot be read: " + err.Error()}
	}
	return nil
}

func answer(w http.ResponseWriter, reply any, err error) {
	status := http.StatusOK
	if err != nil {
		status, reply = http.StatusInternalServerError, map[string]string{"error": err.Error()}
		var refused *refusal
		if errors.As(err, &refused) {
			status = refused.status
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(reply) // the client may have disconnected
}

// Server serves the API; the caller listens and shuts it down.
func (c *Coordinator) Server() *http.Server {
	return &http.Server{Handler: c.Handler(), ReadHeaderTimeout: readHeaders}
}
