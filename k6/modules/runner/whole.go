// SPDX-License-Identifier: AGPL-3.0-only

package runner

import "github.com/grafana/sobek"

// whole presents the metrics of all runners like measured() of the record module presents those of one. It asks the
// coordinator once for each metric. Metrics that lib/ does not record, such as iterations, come from this runner's k6.
type whole struct {
	instance
	k6Metrics *sobek.Object
	known     map[string]sobek.Value
}

func (w *whole) Get(key string) sobek.Value {
	if known, ok := w.known[key]; ok {
		return known
	}
	values, err := w.member.client.Values(w.vu.Context(), key)
	w.must(err)
	if values == nil {
		return w.k6Metrics.Get(key)
	}
	rt := w.vu.Runtime()
	numbers, metric := rt.NewObject(), rt.NewObject()
	for name, value := range values {
		_ = numbers.Set(name, value)
	}
	_ = metric.Set("values", numbers)
	w.known[key] = metric
	return metric
}

func (w *whole) Has(key string) bool          { return w.Get(key) != nil }
func (w *whole) Set(string, sobek.Value) bool { return false }
func (w *whole) Delete(string) bool           { return false }
func (w *whole) Keys() []string               { return w.k6Metrics.Keys() }
