// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"net/http"
	"strings"
	"time"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/stream"
)

// openStream begins to stream where the caller's variables ask for it, and says so.
func (b *session) openStream(ctx context.Context, secrets []string) {
	config, wanted, err := stream.Wanted(ctx, b.getenv)
	if err != nil || !wanted { // preflight has told an error
		return
	}
	redactor := NewRedactor(secrets)
	b.screen.Line("streaming to %s", config.Place())
	b.stream = stream.Open(config,
		func(line string) { b.screen.Error("%s", line) },
		func(text string) string { return maskTokens(redactor.Text(text)) })
}

// closeStream ends streaming and returns the one line about what InfluxDB misses, where there was trouble.
func (b *session) closeStream(of stream.Of) []string {
	if line := b.stream.Close(of); line != "" {
		return []string{line}
	}
	return nil
}

func (b *session) ofRun(runID string) stream.Of { return stream.Of{TestID: runID, Profile: b.Profile} }

func (b *session) of(j job) stream.Of {
	return stream.Of{TestID: j.runID, Profile: b.Profile, System: j.scenario.System, Scenario: j.scenario.Name}
}

// streamEnd streams how a scenario ended.
func (b *session) streamEnd(j job, entry run.Scenario, took time.Duration) {
	if b.stream == nil {
		return
	}
	var measured *result.Result
	if entry.Result != "" {
		if r, err := result.Read(j.file(".json")); err == nil {
			measured = &r
		}
	}
	b.stream.Ended(b.of(j), entry, measured, took)
}

// addOutput gives k6 our output beside those that the caller asks for, and where it streams to.
func (b *session) addOutput(set map[string]string) {
	if b.stream == nil {
		return
	}
	outputs := []string{stream.Output}
	if own := b.getenv("K6_OUT"); own != "" {
		outputs = append(outputs, own)
	}
	set["K6_OUT"] = strings.Join(outputs, ",")
	set[influx.VariableURL] = b.stream.URL()
}

// sample streams each second what k6 and the testbed use, by a window of the sidecar of its own, until
// stop is called. Where that cannot be had nothing is said: the scenario's own window tells.
func (b *session) sample(j job, instance Instance, pid int) (stop func()) {
	if b.stream == nil || b.sidecar == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		id, err := b.sidecar.openWindow(ctx, instance.ID, pid, environment.Probed(j.scenario.System))
		if err != nil {
			return
		}
		b.follow(ctx, b.of(j), id)
		b.sidecar.closeWindow(id)
	}()
	return func() { cancel(); <-done }
}

// follow streams what each second of a window used, shortly after its end.
func (b *session) follow(ctx context.Context, of stream.Of, window string) {
	var before stream.Usage
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second))):
		}
		now, err := b.sidecar.usage(ctx, window)
		if err != nil {
			return
		}
		b.stream.Used(of, before, now)
		before = now
	}
}

// windowTimeout bounds a request about a window.
const windowTimeout = 2 * time.Second

func (s *Sidecar) openWindow(ctx context.Context, instance string, pid int, itself bool) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, windowTimeout)
	defer cancel()
	request := map[string]any{"pids": map[string]int{"k6": pid}, "sidecar": itself}
	if instance != "" {
		request["instance"] = instance
	}
	var opened struct{ ID string }
	err = s.call(ctx, http.MethodPost, "/windows", request, &opened)
	return opened.ID, err
}

func (s *Sidecar) usage(ctx context.Context, window string) (u stream.Usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, windowTimeout)
	defer cancel()
	err = s.call(ctx, http.MethodGet, "/windows/"+window, nil, &u)
	return u, err
}

func (s *Sidecar) closeWindow(window string) {
	ctx, cancel := context.WithTimeout(context.Background(), windowTimeout)
	defer cancel()
	_ = s.call(ctx, http.MethodPost, "/windows/"+window+"/close", map[string]any{}, nil) // it closes itself when k6 has ended
}
