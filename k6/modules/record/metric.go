// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"
)

// carried are the VU's tags that the record keeps with samples; tags of the whole run are kept once.
var carried = []string{operationTag, stepTag}

const (
	operationTag = "operation"
	stepTag      = "step"
	kindTag      = "kind"
	detailTag    = "detail"
)

// metricClass is the constructor of a metric like those of k6/metrics:
// https://grafana.com/docs/k6/latest/javascript-api/k6-metrics/
func (i *instance) metricClass(kind metrics.MetricType) func(sobek.ConstructorCall) *sobek.Object {
	return func(call sobek.ConstructorCall) *sobek.Object {
		env := i.vu.InitEnv()
		if env == nil {
			i.Must(errors.New("metrics are declared in the init context"))
		}
		value := metrics.Default
		if call.Argument(1).ToBoolean() {
			value = metrics.Time
		}
		own, err := env.Registry.NewMetric(call.Argument(0).String(), kind, value)
		i.Must(err)
		_ = call.This.Set("add", func(call sobek.FunctionCall) sobek.Value {
			value, tags := call.Argument(0), call.Argument(1)
			if i.holds {
				i.held = append(i.held, func() error { return i.add(own, value, tags) })
			} else {
				i.Must(i.add(own, value, tags))
			}
			return sobek.Undefined()
		})
		return nil
	}
}

// add adds a sample with the current time.
func (i *instance) add(metric *metrics.Metric, value, tags sobek.Value) error {
	state := i.vu.State()
	if state == nil {
		return errOutside
	}
	number := value.ToFloat()
	if math.IsNaN(number) {
		return fmt.Errorf("%s: %s is no number", metric.Name, value)
	}
	now := time.Now()
	current := state.Tags.GetCurrentValues()
	own := carriedOf(current.Tags)
	if !common.IsNullish(tags) {
		if err := common.ApplyCustomUserTags(i.Runtime(), &current, tags); err != nil {
			return err
		}
		object := tags.ToObject(i.Runtime())
		for _, name := range object.Keys() {
			own[name] = object.Get(name).String()
		}
	}
	i.record.Series(metric.Name, metric.Type, own).Add(number)
	i.push(state, metrics.Sample{TimeSeries: metrics.TimeSeries{Metric: metric, Tags: current.Tags}, Time: now, Metadata: current.Metadata, Value: number})
	return nil
}

func (i *instance) push(state *lib.State, samples metrics.SampleContainer) {
	metrics.PushIfNotDone(i.vu.Context(), state.Samples, samples)
}

func carriedOf(tags *metrics.TagSet) map[string]string {
	own := map[string]string{}
	for _, name := range carried {
		if value, ok := tags.Get(name); ok {
			own[name] = value
		}
	}
	return own
}
