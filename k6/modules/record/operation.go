// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/farend"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/sidecar"
)

// Names of an operation's metrics that only the record has: in k6 they would cost samples without a reader.
const (
	begunMetric = "operation_begun"
	clockMetric = "operation_clock_ms"
	// detailMetric counts the answers that were no success, such as HTTP 202, by kind.
	detailMetric = "operation_error_details"
)

// Each answer may differ: the record counts more than mostDetails of one kind together, and cuts a detail at
// longestDetail.
const (
	mostDetails   = 20
	longestDetail = 160
	otherDetails  = "other answers"
)

// known are k6's metrics of each operation. lib/operations.js describes them.
type known struct{ latency, failed, errors, anomalies, items, lateness *metrics.Metric }

// operationMetrics registers these metrics; nil if the instance is not for a test.
func operationMetrics(vu modules.VU) *known {
	env := vu.InitEnv()
	if env == nil || env.Registry == nil {
		return nil
	}
	metric := func(name string, kind metrics.MetricType, value metrics.ValueType) *metrics.Metric {
		return env.Registry.MustNewMetric(name, kind, value)
	}
	return &known{
		latency:   metric("operation_ms", metrics.Trend, metrics.Time),
		failed:    metric("operation_failed", metrics.Rate, metrics.Default),
		errors:    metric("operation_errors", metrics.Counter, metrics.Default),
		anomalies: metric("operation_anomalies", metrics.Counter, metrics.Default),
		items:     metric("operation_items", metrics.Counter, metrics.Default),
		lateness:  metric("operation_lateness_ms", metrics.Trend, metrics.Time),
	}
}

// operation records one operation of a scenario for one VU.
type operation struct {
	*instance
	name string
	// bounded says that time bounds the run, so the end of a failure does not extend the window.
	bounded bool
	// uncounted says that each iteration of a k6 scenario is one such operation with one item, so that k6 counts them.
	uncounted bool
	// cells are by the VU's tags, which change from step to step in a run that looks for the limit.
	cells map[*metrics.TagSet]*cell
}

// cell has the series for an operation's samples while the VU's tags stay the same.
type cell struct {
	tags                                                      *metrics.TagSet
	latency, failed, items, begun, clock, lateness, anomalies *record.Series
}

// newOperation is the constructor: its arguments are a name and the kind of operation.
func (i *instance) newOperation(call sobek.ConstructorCall) *sobek.Object {
	o := &operation{instance: i, name: call.Argument(0).String(), cells: map[*metrics.TagSet]*cell{}}
	if given := call.Argument(1); given.ToBoolean() {
		kind := given.ToObject(i.Runtime())
		is := func(name string) bool { value := kind.Get(name); return value != nil && value.ToBoolean() }
		o.bounded, o.uncounted = is("bounded"), is("uncounted")
	}
	for name, method := range map[string]func(*lib.State, *cell, []sobek.Value) error{
		"begin": o.begin, "success": o.success, "failure": o.failure, "anomaly": o.anomaly, "late": o.late,
		"samples": o.samples, "failures": o.failures, "lateness": o.latenesses, "farEnd": o.farEnd,
	} {
		_ = call.This.Set(name, func(call sobek.FunctionCall) sobek.Value {
			state := o.vu.State()
			if state == nil {
				o.Must(errOutside)
			}
			if name == "success" {
				o.shared.answered()
			}
			if o.holds && name != "farEnd" && o.holdsBack(name, call.Arguments) {
				given := slices.Clone(call.Arguments)
				o.held = append(o.held, func() error { return method(state, o.cell(state), given) })
			} else if err := method(state, o.cell(state), call.Arguments); err != nil {
				o.Must(fmt.Errorf("%s: %w", o.name, err))
			}
			return sobek.Undefined()
		})
	}
	return nil
}

func (o *operation) cell(state *lib.State) *cell {
	current := state.Tags.GetCurrentValues().Tags
	if found, ok := o.cells[current]; ok {
		return found
	}
	tags := current.With(operationTag, o.name)
	own := carriedOf(tags)
	series := func(metric *metrics.Metric) *record.Series { return o.record.Series(metric.Name, metric.Type, own) }
	made := &cell{
		tags:      tags,
		latency:   series(o.operations.latency),
		failed:    series(o.operations.failed),
		items:     series(o.operations.items),
		lateness:  series(o.operations.lateness),
		anomalies: series(o.operations.anomalies),
		begun:     o.record.Series(begunMetric, metrics.Counter, own),
		clock:     o.record.Series(clockMetric, metrics.Gauge, own),
	}
	o.cells[current] = made
	return made
}

// begin is called before a request: a request with neither a success nor a failure was cut.
func (o *operation) begin(_ *lib.State, c *cell, _ []sobek.Value) error {
	c.begun.Add(1)
	return nil
}

// success takes start and end on the test's clock, the latency, and the number of items.
func (o *operation) success(state *lib.State, c *cell, given []sobek.Value) error {
	start, end, latency, items := given[0].ToFloat(), given[1].ToFloat(), given[2].ToFloat(), given[3].ToFloat()
	now := time.Now()
	c.latency.Add(latency)
	c.failed.Add(0)
	c.clock.Add(start)
	c.clock.Add(end)
	samples := metrics.Samples{o.sample(c, o.operations.latency, now, latency), o.sample(c, o.operations.failed, now, 0)}
	if !o.uncounted {
		c.items.Add(items)
		samples = append(samples, o.sample(c, o.operations.items, now, items))
	}
	o.push(state, samples)
	return nil
}

// failure takes the kind, start and end, and the answer that was no success.
func (o *operation) failure(state *lib.State, c *cell, given []sobek.Value) error {
	c.clock.Add(given[1].ToFloat())
	if !o.bounded {
		c.clock.Add(given[2].ToFloat())
	}
	o.detail(c, given[0].String(), given, 3, 1)
	return o.fail(state, c, given[0].String(), 1)
}

func (o *operation) detail(c *cell, kind string, given []sobek.Value, place int, count int64) {
	if len(given) <= place || !given[place].ToBoolean() {
		return
	}
	detail := []rune(given[place].String())
	if len(detail) > longestDetail {
		detail = append(detail[:longestDetail-1], '…')
	}
	tags := carriedOf(c.tags)
	tags[kindTag], tags[detailTag] = kind, o.shared.distinct(o.name+" "+kind, string(detail))
	o.record.Series(detailMetric, metrics.Counter, tags).Add(float64(count))
}

func (o *operation) failures(state *lib.State, c *cell, given []sobek.Value) error {
	return o.fail(state, c, given[0].String(), given[1].ToInteger())
}

func (o *operation) fail(state *lib.State, c *cell, kind string, count int64) error {
	now := time.Now()
	samples := metrics.Samples{o.errorsOf(c, kind, now, count)}
	for range count {
		c.failed.Add(1)
		samples = append(samples, o.sample(c, o.operations.failed, now, 1))
	}
	o.push(state, samples)
	return nil
}

func (o *operation) errorsOf(c *cell, kind string, now time.Time, count int64) metrics.Sample {
	tags := c.tags.With(kindTag, kind)
	own := carriedOf(tags)
	own[kindTag] = kind
	o.record.Series(o.operations.errors.Name, metrics.Counter, own).Add(float64(count))
	return metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: o.operations.errors, Tags: tags}, Time: now, Value: float64(count)}
}

// anomaly takes the kind of a fault that is no failed request, its number, and a detail.
func (o *operation) anomaly(state *lib.State, c *cell, given []sobek.Value) error {
	kind, count := given[0].String(), given[1].ToInteger()
	if count <= 0 {
		return nil
	}
	o.detail(c, kind, given, 2, count)
	now := time.Now()
	c.anomalies.Add(float64(count))
	o.push(state, metrics.Samples{o.errorsOf(c, kind, now, count), o.sample(c, o.operations.anomalies, now, float64(count))})
	return nil
}

// late takes the generator's lateness in ms.
func (o *operation) late(state *lib.State, c *cell, given []sobek.Value) error {
	ms := max(0, given[0].ToFloat())
	c.lateness.Add(ms)
	o.push(state, metrics.Samples{o.sample(c, o.operations.lateness, time.Now(), ms)})
	return nil
}

// farEnd takes the counts of a probe's far end in the sidecar's form; null if the far end is not the sidecar.
func (o *operation) farEnd(_ *lib.State, c *cell, given []sobek.Value) error {
	text, err := json.Marshal(given[0].Export())
	if err != nil {
		return err
	}
	var counts farend.Counts
	if err := json.Unmarshal(text, &counts); err != nil {
		return err
	}
	counts.Record(o.record, carriedOf(c.tags))
	return nil
}

// samples takes the measurements of a probe, and the name of the series with its latencies.
func (o *operation) samples(state *lib.State, c *cell, given []sobek.Value) error {
	series, err := o.seriesOf(given[0], given[1].String())
	if err != nil || series.NS == nil {
		return err
	}
	o.trend(state, c.latency, c, o.operations.latency, series)
	o.trend(state, c.failed, c, o.operations.failed, sidecar.Series{NS: make([]float64, len(series.NS)), EndsUS: series.EndsUS})
	c.items.Add(float64(len(series.NS)))
	if carried := o.itemsOf(c, series); len(carried) > 0 {
		o.push(state, carried)
	}
	return nil
}

// itemsOf returns a probe's items, one for each success: a sample for each second with successes, in order.
func (o *operation) itemsOf(c *cell, series sidecar.Series) (samples metrics.Samples) {
	if series.EndsUS == nil {
		return metrics.Samples{o.sample(c, o.operations.items, time.Now(), float64(len(series.NS)))}
	}
	for _, end := range series.EndsUS {
		at := time.UnixMicro(int64(end))
		if last := len(samples) - 1; last >= 0 && samples[last].Time.Unix() == at.Unix() {
			samples[last].Value++
			continue
		}
		samples = append(samples, o.sample(c, o.operations.items, at, 1))
	}
	return samples
}

// latenesses takes the measurements of a probe, whose series "lateness" has the lateness of each operation.
func (o *operation) latenesses(state *lib.State, c *cell, given []sobek.Value) error {
	series, err := o.seriesOf(given[0], "lateness")
	o.trend(state, c.lateness, c, o.operations.lateness, series)
	return err
}

// trend records a series in ms, each sample at the end of its operation.
func (o *operation) trend(state *lib.State, into *record.Series, c *cell, metric *metrics.Metric, series sidecar.Series) {
	samples := make(metrics.Samples, len(series.NS))
	now := time.Now()
	for n, ns := range series.NS {
		at := now
		if series.EndsUS != nil {
			at = time.UnixMicro(int64(series.EndsUS[n]))
		}
		ms := ns / 1e6
		into.Add(ms)
		samples[n] = o.sample(c, metric, at, ms)
	}
	if len(samples) > 0 {
		o.push(state, samples)
	}
}

func (o *operation) sample(c *cell, metric *metrics.Metric, at time.Time, value float64) metrics.Sample {
	return metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: metric, Tags: c.tags}, Time: at, Value: value}
}
