// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"encoding/json"
	"maps"
	"sync"
	"testing"

	"go.k6.io/k6/metrics"
)

func TestValuesAreThoseOfK6(t *testing.T) {
	r := New()
	own := metrics.NewTrendSink()
	for n := range 1000 {
		value := float64((n * 7919) % 1000)
		// Two steps of one operation.
		step := map[string]string{"operation": "send", "step": []string{"0", "1"}[n%2]}
		r.Series("operation_ms", metrics.Trend, step).Add(value)
		own.Add(metrics.Sample{Value: value})
	}
	values, ok := r.Values("operation_ms", map[string]string{"operation": "send"})
	if !ok || values["count"] != 1000 || values["min"] != 0 || values["max"] != 999 || values["avg"] != 499.5 {
		t.Fatal(values)
	}
	for _, p := range Percentiles {
		name, share := p.Name, p.Share
		if values[name] != own.P(share) {
			t.Errorf("%s: %g, k6 says %g", name, values[name], own.P(share))
		}
	}
	if one, _ := r.Values("operation_ms", map[string]string{"operation": "send", "step": "1"}); one["count"] != 500 {
		t.Error(one)
	}
	if none, ok := r.Values("operation_ms", map[string]string{"operation": "poll"}); ok {
		t.Error(none)
	}
}

func TestFewSamplesAreThoseOfK6(t *testing.T) {
	r, own := New(), metrics.NewTrendSink()
	for n := range 5 {
		r.Series("operation_ms", metrics.Trend, nil)
		values, _ := r.Values("operation_ms", nil)
		for _, p := range Percentiles {
			name, share := p.Name, p.Share
			if values[name] != own.P(share) {
				t.Errorf("%s of %d: %g, k6 says %g", name, n, values[name], own.P(share))
			}
		}
		value := float64(n*n) + 0.5
		r.Series("operation_ms", metrics.Trend, nil).Add(value)
		own.Add(metrics.Sample{Value: value})
	}
}

func TestEachKindOfMetric(t *testing.T) {
	r := New()
	tags := func(kind string) map[string]string { return map[string]string{"operation": "send", "kind": kind} }
	r.Series("errors", metrics.Counter, tags("timeout")).Add(2)
	r.Series("errors", metrics.Counter, tags("timeout")).Add(3)
	r.Series("errors", metrics.Counter, tags("tls")).Add(5)
	for _, failed := range []float64{0, 1, 0, 0} {
		r.Series("failed", metrics.Rate, nil).Add(failed)
	}
	r.Series("clock", metrics.Gauge, map[string]string{"step": "0"})
	r.Series("clock", metrics.Gauge, map[string]string{"step": "1"}).Add(70)
	r.Series("clock", metrics.Gauge, map[string]string{"step": "1"}).Add(30)
	for name, want := range map[string]Values{
		"errors":                          {"count": 10},
		"errors{kind:timeout}":            {"count": 5},
		"errors{operation:send,kind:tls}": {"count": 5},
		"failed":                          {"passes": 1, "fails": 3, "rate": 0.25},
		"clock":                           {"min": 30, "max": 70, "value": 30},
		"clock{step:0}":                   {"min": 0, "max": 0, "value": 0},
	} {
		if got, ok := r.Values(Parse(name)); !ok || !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestWhatIsSaidStays(t *testing.T) {
	r := New()
	r.Say("census", json.RawMessage(`{"users":1}`))
	r.Say("census", json.RawMessage(`{"users":0}`))
	if said := r.Said(); len(said) != 1 || string(said["census"]) != `{"users":0}` {
		t.Error(said)
	}
}

func TestManyVUsAtATime(t *testing.T) {
	r := New()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 1000 {
				r.Series("operation_ms", metrics.Trend, map[string]string{"operation": "send"}).Add(1)
			}
		})
	}
	all.Wait()
	if values, _ := r.Values("operation_ms", nil); values["count"] != 50_000 {
		t.Error(values)
	}
}
