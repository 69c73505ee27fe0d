// SPDX-License-Identifier: AGPL-3.0-only

// Package farend compares the counts of the probes' far end with the counts of the probes. It defines how a record
// stores them, and adds them up.
package farend

import (
	"maps"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
)

// Metric is the record's name for these counts. Its tags are `operation`, `count` (the name of a count, or `none`) and
// `of`.
const Metric = "operation_far_end"

const (
	countTag = "count"
	ofTag    = "of"
	// none counts the probes whose far end is not the sidecar.
	none = "none"
)

// Parts of each count in the record. Missing and beyond are computed for each probe, so that two probes never cancel
// each other out.
const (
	least   = "least"
	found   = "found"
	missing = "missing"
	beyond  = "beyond"
)

// Names are the counts, the most informative first.
var Names = []string{"datagrams_up", "datagrams_down", "bytes_up", "bytes_down", "connections"}

// Count is a count of one probe's far end, with its smallest and largest valid value; a nil Most means no upper limit.
type Count struct {
	Least float64  `json:"least"`
	Most  *float64 `json:"most"`
	Found float64  `json:"found"`
}

// Counts are the counts of one probe by name; nil if the far end is not the sidecar.
type Counts map[string]Count

// Record adds the counts to the record's series with these tags.
func (c Counts) Record(r *record.Record, tags map[string]string) {
	add := func(count, of string, value float64) {
		own := maps.Clone(tags)
		own[countTag], own[ofTag] = count, of
		r.Series(Metric, metrics.Counter, own).Add(value)
	}
	if c == nil {
		add(none, found, 1)
		return
	}
	for name, count := range c {
		add(name, least, count.Least)
		add(name, found, count.Found)
		add(name, missing, max(0, count.Least-count.Found))
		if count.Most != nil {
			add(name, beyond, max(0, count.Found-*count.Most))
		}
	}
}

// Metrics are the recorded metrics.
type Metrics interface {
	Values(metric string, tags map[string]string) (record.Values, bool)
}

// Sum is one count over all probes of an operation.
type Sum struct{ Least, Found, Missing, Beyond int64 }

// Of returns the sums of an operation by name. They are empty if nothing was counted; recorded is false if no probe
// ended.
func Of(m Metrics, operation string) (sums map[string]Sum, recorded bool) {
	if _, recorded = m.Values(Metric, map[string]string{"operation": operation}); !recorded {
		return nil, false
	}
	sums = map[string]Sum{}
	for _, name := range Names {
		value := func(of string) int64 {
			values, _ := m.Values(Metric, map[string]string{"operation": operation, countTag: name, ofTag: of})
			return int64(values["count"])
		}
		if _, ok := m.Values(Metric, map[string]string{"operation": operation, countTag: name}); ok {
			sums[name] = Sum{Least: value(least), Found: value(found), Missing: value(missing), Beyond: value(beyond)}
		}
	}
	return sums, true
}
