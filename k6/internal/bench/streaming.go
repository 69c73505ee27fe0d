// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"strings"
	"time"

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
