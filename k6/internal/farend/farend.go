// SPDX-License-Identifier: AGPL-3.0-only

// Package farend has what the far end of probes counted beside what the probes know: how a record keeps it, and what it adds up to.
package farend

import (
	"maps"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/record"
)

// Metric is the record's name for these counts. Its tags are `operation`, `count` (a name of a count, or `none`) and `of`.
const Metric = "operation_far_end"

const (
	countTag = "count"
	ofTag    = "of"
	// none counts the probes whose far end is none of the sidecar's.
	none = "none"
)

// Parts of each count that the record keeps. Missing and beyond are worked out for each probe, so that two probes never make up for
// each other.
const (
	least   = "least"
	found   = "found"
	missing = "missing"
	beyond  = "beyond"
)

// Names are the counts, the one that says most first.
var Names = []string{"datagrams_up", "datagrams_down", "bytes_up", "bytes_down", "connections"}

// Count is what the far end of one probe counted, and what it must have counted at least and at most; Most nil is any number.
type Count struct {
	Least float64  `json:"least"`
	Most  *float64 `json:"most"`
	Found float64  `json:"found"`
}

// Counts are the counts of one probe by name; nil where the far end is none of the sidecar's.
type Counts map[string]Count

// Record adds them to a record's series that have these tags.
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

// Metrics are what a record comes to.
type Metrics interface {
	Values(metric string, tags map[string]string) (record.Values, bool)
}

// Sum is one count of all probes of an operation.
type Sum struct{ Least, Found, Missing, Beyond int64 }

// Of returns the sums of an operation by name. They are empty where nothing was counted; recorded is false where no probe ended.
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
