// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/errext"

	"windtunnel/k6/internal/sidecar"
)

// client is the sidecar of the script's variables.
func (i *instance) client() sidecar.Client {
	variables := i.Runtime().Get("__ENV").ToObject(i.Runtime())
	variable := func(name string) string {
		if value := variables.Get(name); value != nil && !sobek.IsUndefined(value) {
			return value.String()
		}
		return ""
	}
	return sidecar.Client{URL: variable("SIDECAR_URL"), Token: variable("SIDECAR_TOKEN")}
}

// asked is a request to the sidecar; an undefined body means none.
type asked struct {
	Path string
	Body sobek.Value
}

// request sends a request to the sidecar, with a time limit in ms.
func (i *instance) request(method, path string, body sobek.Value, limitMS float64) sobek.Value {
	return i.requestAll(method, []asked{{path, body}}, limitMS)[0]
}

func (i *instance) requestAll(method string, all []asked, limitMS float64) []sobek.Value {
	client := i.client()
	ctx, cancel := context.WithTimeout(i.vu.Context(), time.Duration(limitMS*float64(time.Millisecond)))
	defer cancel()
	answers, failed := make([]sidecar.Answer, len(all)), make([]error, len(all))
	var sent sync.WaitGroup
	for n, one := range all {
		body := i.textOf(one.Body)
		sent.Go(func() { answers[n], failed[n] = client.Do(ctx, method, one.Path, body) })
	}
	sent.Wait()
	values := make([]sobek.Value, len(all))
	for n, answer := range answers {
		values[n] = i.answered(answer, failed[n])
	}
	return values
}

// textOf is a value as JSON; nil if it is undefined.
func (i *instance) textOf(value sobek.Value) any {
	if value == nil || sobek.IsUndefined(value) {
		return nil
	}
	return json.RawMessage(i.OutOf(value))
}

// answered is an answer for a script. error is null for a success; otherwise it has one line.
func (i *instance) answered(answer sidecar.Answer, failed error) sobek.Value {
	made := map[string]any{"status": answer.Status, "answer": nil, "error": nil}
	if failed != nil {
		made["status"], made["error"] = 0, sidecar.Briefly(failed)
		return i.Into(made)
	}
	if err := answer.Err(); err != nil {
		made["error"] = err.Error()
	}
	if json.Valid(answer.Body) {
		made["answer"] = json.RawMessage(answer.Body)
	}
	return i.Into(made)
}

// probes runs probes at the same time, and returns what they found. A failure ends the run, like exec.test.abort.
func (i *instance) probes(specs []sobek.Value) sobek.Value {
	rt := i.Runtime()
	texts := make([]json.RawMessage, len(specs))
	for n, spec := range specs {
		texts[n], _ = i.textOf(spec).(json.RawMessage)
	}
	ended, err := i.client().Measure(i.vu.Context(), texts)
	if err != nil {
		rt.Interrupt(&errext.InterruptError{Reason: fmt.Sprintf("%s: %s", errext.AbortTest, err)})
		return nil
	}
	found := make([]any, len(ended))
	for n, probe := range ended {
		one, values, ends := i.Into(probe).ToObject(rt), rt.NewObject(), rt.NewObject()
		for name, series := range probe.Series {
			lazily(rt, values, name, series.NS, 1)
			lazily(rt, ends, name, series.EndsUS, 1e3)
		}
		_ = one.Set("values", values)
		_ = one.Set("ends", ends)
		_ = one.Set("series", probe.Series)
		found[n] = one
	}
	return rt.NewArray(found...)
}

// lazily makes a property with a copy of a list, each number divided by a unit, which is made when a script reads it.
func lazily(rt *sobek.Runtime, object *sobek.Object, name string, numbers []float64, unit float64) {
	list := func(sobek.FunctionCall) sobek.Value {
		items := make([]any, len(numbers))
		for n, number := range numbers {
			items[n] = number / unit
		}
		return rt.NewArray(items...)
	}
	_ = object.DefineAccessorProperty(name, rt.ToValue(list), nil, sobek.FLAG_TRUE, sobek.FLAG_TRUE)
}

// seriesOf returns a series of a probe's measurements, or of measurements that a script made. A missing series is empty.
func (i *instance) seriesOf(measured sobek.Value, name string) (sidecar.Series, error) {
	if probe := measured.ToObject(i.Runtime()).Get("series"); probe != nil {
		return probe.Export().(map[string]sidecar.Series)[name], nil
	}
	var made struct{ Values, Ends map[string][]float64 }
	if err := i.Runtime().ExportTo(measured, &made); err != nil {
		return sidecar.Series{}, err
	}
	values, ends := made.Values[name], made.Ends[name]
	if ends != nil && len(ends) != len(values) {
		return sidecar.Series{}, fmt.Errorf("%d samples and %d times", len(values), len(ends))
	}
	for n := range ends {
		ends[n] *= 1e3
	}
	return sidecar.Series{NS: values, EndsUS: ends}, nil
}

// quantile is the value in ms below which a share of all samples of some measurements lie; null without samples. Without a
// share it is the median, between the two middle samples if their number is even.
func (i *instance) quantile(all []sobek.Value, name string, share sobek.Value) any {
	var ns []float64
	for _, one := range all {
		if one == nil || sobek.IsNull(one) || sobek.IsUndefined(one) {
			continue
		}
		series, err := i.seriesOf(one, name)
		i.Must(err)
		ns = append(ns, series.NS...)
	}
	if len(ns) == 0 {
		return nil
	}
	slices.Sort(ns)
	if share == nil || sobek.IsUndefined(share) {
		return (ns[(len(ns)-1)/2] + ns[len(ns)/2]) / 2 / 1e6
	}
	return ns[int(math.Ceil(float64(len(ns))*share.ToFloat()))-1] / 1e6
}

// watched is what a script wants to know of the machine after the load.
type watched struct {
	// Window is the id of a closed window; "" without a sidecar.
	Window string
	// CPUs says whether the use of each CPU over time counts.
	CPUs bool `js:"cpus"`
	// Idle is an instance whose idle processes are sampled for RestS seconds, unless the window has done it; "": none.
	Idle  string
	RestS float64 `js:"rest_s"`
}

// watch adds the usage of the machine and of the system's processes to the evidence. The script gets the usage in the window
// without its course; null if it was not measured.
func (i *instance) watch(what watched) sobek.Value {
	var usage, cpus json.RawMessage
	if what.Window != "" {
		usage = i.look(http.MethodGet, "/windows/"+what.Window, nil, 0)
		if what.CPUs {
			cpus = i.look(http.MethodGet, "/windows/"+what.Window+"/cpus", nil, 0)
		}
	}
	var rested struct {
		AtRest    json.RawMessage `json:"at_rest"`
		Processes json.RawMessage
	}
	_ = json.Unmarshal(usage, &rested)
	if rested.AtRest == nil && what.Idle != "" && what.RestS > 0 {
		rested.Processes = nil
		_ = json.Unmarshal(i.look(http.MethodPost, "/instances/"+what.Idle+"/rest", map[string]any{"seconds": what.RestS}, what.RestS), &rested)
		rested.AtRest = rested.Processes
	}
	i.record.Watch(map[string]json.RawMessage{"usage": usage, "cpus": cpus, "rest_after": rested.AtRest})
	return i.Into(usage)
}

// look returns the sidecar's answer, which takes some seconds; nil after a warning without a successful answer.
func (i *instance) look(method, path string, body any, seconds float64) json.RawMessage {
	client := i.client()
	if client.URL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(i.vu.Context(), sidecar.Quickly+time.Duration(seconds*float64(time.Second)))
	defer cancel()
	answer, err := client.Do(ctx, method, path, body)
	if err == nil && answer.Err() == nil {
		return answer.Body
	}
	why := strconv.Itoa(answer.Status)
	if err != nil {
		why = sidecar.Briefly(err)
	}
	i.vu.State().Logger.Warnf("sidecar %s: %s: processes are not measured in this run", path, why)
	return nil
}
