// SPDX-License-Identifier: AGPL-3.0-only

// Package windtunnel is the output `--out windtunnel`: it streams a test's measurements to InfluxDB, one point for each
// second and set of tags instead of one for each sample. docs/reference/streaming.md describes its data model.
package windtunnel

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"
	"go.k6.io/k6/output"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/influx"
)

func init() {
	output.RegisterExtension("windtunnel", New)
}

// grace is how long after its end a second may still get samples: k6 passes samples on every 50 ms.
const grace = 250 * time.Millisecond

// limits hold a minute of seconds.
var limits = influx.Limits{Batches: 60, Bytes: 8 << 20}

// Output aggregates and streams. An unreachable server never delays k6: one line warns, and one at the end says what is
// missing.
type Output struct {
	config influx.Config
	logger logrus.FieldLogger
	now    func() time.Time

	runTags    map[string]string
	bounds     []bound
	lastBounds int64 // second of the last points of bounds

	mu        sync.Mutex
	aggregate *aggregate

	sender  *influx.Sender
	stop    chan struct{}
	stopped chan struct{}
}

// New makes the output; INFLUX and related variables say where it streams to.
func New(params output.Params) (output.Output, error) {
	if params.ConfigArgument != "" {
		return nil, fmt.Errorf("--out windtunnel takes no argument; INFLUX says where to stream to")
	}
	config, err := influx.FromEnvironment(func(name string) string { return params.Environment[name] })
	if err != nil {
		return nil, err
	}
	aggregate, tags := newAggregate(), tagsOf(params.ScriptOptions)
	aggregate.catalogue.common = tags
	return &Output{config: config, logger: params.Logger, now: time.Now, aggregate: aggregate,
		runTags: tags,
		stop:    make(chan struct{}), stopped: make(chan struct{})}, nil
}

// Description is the line that k6 prints.
func (o *Output) Description() string { return "InfluxDB (" + o.config.Place() + ")" }

// Start begins to stream, without contacting the server.
func (o *Output) Start() error {
	o.sender = influx.NewSender(o.config, limits, func(line string) {
		influx.Report{Warning: line}.Log(o.logger)
	})
	go o.run()
	return nil
}

// SetThresholds stores the test's thresholds; k6 calls it before Start.
func (o *Output) SetThresholds(thresholds map[string]metrics.Thresholds) {
	o.bounds = boundsOf(thresholds, o.runTags, o.aggregate.catalogue.budget)
}

// AddMetricSamples adds samples.
func (o *Output) AddMetricSamples(containers []metrics.SampleContainer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, container := range containers {
		if sample, ok := container.(metrics.Sample); ok { // GetSamples would allocate
			o.aggregate.add(&sample)
			continue
		}
		samples := container.GetSamples()
		for i := range samples {
			o.aggregate.add(&samples[i])
		}
	}
}

// Stop sends the rest. When k6 stops its outputs, it no longer catches signals: a signal would kill k6 before it writes
// its result. So a signal here only ends the wait for the server.
func (o *Output) Stop() error {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	close(o.stop)
	<-o.stopped
	// Include samples dated in the future, which happens if the clock was set back.
	o.flush(o.now().Add(24*time.Hour), true)
	outage := o.sender.Close(ctx)
	if outage.Any() {
		influx.Report{Missing: &outage.Missing}.Log(o.logger)
	}
	return nil
}

func (o *Output) run() {
	defer close(o.stopped)
	for {
		next := o.now().Add(-grace).Truncate(time.Second).Add(time.Second + grace)
		select {
		case <-time.After(next.Sub(o.now())):
			o.flush(o.now().Add(-grace), false)
		case <-o.stop:
			return
		}
	}
}

// flush sends the seconds that have ended by a time; final says that no more samples will come.
func (o *Output) flush(upTo time.Time, final bool) {
	o.mu.Lock()
	over, notice := o.aggregate.take(upTo), o.aggregate.notice()
	o.mu.Unlock()
	if notice != "" {
		influx.Report{Notice: notice}.Log(o.logger)
	}
	for i, s := range over {
		var b influx.Batch
		s.points(&b)
		o.addBounds(&b, s.at, final && i == len(over)-1)
		o.sender.Send(&b)
	}
}

// tagsOf are the tags of a whole run: the script's declared tags (`ext.windtunnel.tags`), k6's tags, and the runner's
// number if there are several. Tags are declared in the script because a tag on the command line replaces them all.
func tagsOf(options lib.Options) map[string]string {
	var declared struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(options.External["windtunnel"], &declared) // a user's own script may have none
	tags := map[string]string{}
	maps.Copy(tags, declared.Tags)
	maps.Copy(tags, options.RunTags)
	if number, of, err := coordinator.PlaceOf(options.ExecutionSegment, options.ExecutionSegmentSequence); err == nil && of > 1 {
		tags[runnerTag] = strconv.Itoa(number)
	}
	return tags
}
