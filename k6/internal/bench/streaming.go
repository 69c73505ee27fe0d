// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"strings"
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/sidecar"
	"windtunnel/k6/internal/stream"
)

// openStream begins to stream if the caller's variables ask for it, and prints a line about it.
func (b *session) openStream(ctx context.Context, secrets, public []string) {
	config, wanted, err := stream.Wanted(ctx, b.Getenv)
	switch {
	case err != nil: // the preflight has reported it
		return
	case !wanted && b.Getenv(influx.VariablePassword) != "" && ctx.Err() == nil:
		b.screen.Line("not streamed: no InfluxDB answers at the default address %s (%s is set without %s)",
			config.URL, influx.VariablePassword, influx.VariableURL)
		return
	case !wanted:
		return
	}
	b.screen.Line("streaming to %s", config.Place())
	b.stream = stream.Open(config, func(line string) { b.screen.Error("%s", line) }, redact.New(secrets, public...).Clean)
}

func (b *session) ofRun(runID string) stream.Of { return stream.Of{TestID: runID, Profile: b.Profile} }

func (b *session) of(j job) stream.Of {
	return stream.Of{TestID: j.runID, Profile: b.Profile, System: j.scenario.System, Scenario: j.scenario.Name}
}

// addOutput adds our output to the outputs that the caller set. It is added once: a second output would count everything
// twice.
func (b *session) addOutput(set map[string]string) {
	if b.stream == nil {
		return
	}
	outputs := []string{stream.Output}
	for own := range strings.SplitSeq(b.Getenv("K6_OUT"), ",") {
		if own = strings.TrimSpace(own); own != "" && own != stream.Output {
			outputs = append(outputs, own)
		}
	}
	set["K6_OUT"] = strings.Join(outputs, ",")
}

// sample streams every second the usage of k6 and the testbed, and the traffic of the links, until stop is called.
func (b *session) sample(j job, instance sidecar.Instance, k6 map[string]int) (stop func()) {
	if b.stream == nil || b.sidecar == nil {
		return func() {}
	}
	return b.sidecar.Sample(instance.ID, k6, j.scenario.Probed, func(look stream.Look, at time.Time, over bool) {
		b.stream.Used(b.of(j), look, at, over)
	})
}
