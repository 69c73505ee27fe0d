// SPDX-License-Identifier: AGPL-3.0-only

// Package record holds the measurements of one k6 process: every sample of every metric that lib/ declares, and the
// notes of scripts. The figures of a result are computed from it.
package record

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.k6.io/k6/metrics"
)

// Record is safe for concurrent use by VUs. The zero value is not ready: see New.
type Record struct {
	mu     sync.Mutex
	series map[string]*Series
	// byMetric has the series of a metric in the order of their creation.
	byMetric map[string][]*Series
	notes    map[string]json.RawMessage
	// machine has fields of the evidence that no script passes on, as JSON.
	machine map[string]json.RawMessage
	// mostExact is the limit for series that are created from now on.
	mostExact int
}

// New makes an empty record.
func New() *Record {
	return &Record{series: map[string]*Series{}, byMetric: map[string][]*Series{}, notes: map[string]json.RawMessage{}, mostExact: MostExact}
}

// OfProcess is the only record of this process: a k6 process runs one test.
var OfProcess = New()

// Series returns the series of a metric with exactly these tags.
func (r *Record) Series(metric string, kind metrics.MetricType, tags map[string]string) *Series {
	key := keyOf(metric, tags)
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.series[key]; ok {
		return found
	}
	made := &Series{metric: metric, kind: kind, tags: maps.Clone(tags), mostExact: r.mostExact}
	r.series[key] = made
	r.byMetric[metric] = append(r.byMetric[metric], made)
	return made
}

func keyOf(metric string, tags map[string]string) string {
	var key strings.Builder
	key.WriteString(metric)
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		key.WriteString("\x00" + name + "\x00" + tags[name])
	}
	return key.String()
}

// Say stores a script's note under a name, as JSON; a later note replaces an earlier one.
func (r *Record) Say(name string, value json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes[name] = value
}

// Said returns all notes by name.
func (r *Record) Said() map[string]json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.notes)
}

// Watch stores the usage of the machine, as fields of the evidence.
func (r *Record) Watch(machine map[string]json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.machine = machine
}

// Watched returns what Watch stored.
func (r *Record) Watched() map[string]json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.machine
}

// Series is one metric with one set of tags.
type Series struct {
	metric    string
	kind      metrics.MetricType
	tags      map[string]string
	mostExact int

	mu sync.Mutex
	// samples are the samples of a trend.
	samples samples
	// The other types of metrics need no samples.
	sum, min, max, last float64
	count, nonzero      int64
}

// Add adds a sample.
func (s *Series) Add(value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kind == metrics.Trend {
		s.samples.add(millionths(value), s.mostExact)
		return
	}
	if s.count == 0 || value < s.min {
		s.min = value
	}
	if s.count == 0 || value > s.max {
		s.max = value
	}
	s.sum += value
	s.last = value
	s.count++
	if value != 0 {
		s.nonzero++
	}
}
