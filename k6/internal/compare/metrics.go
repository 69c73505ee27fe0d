// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"slices"

	"windtunnel/k6/internal/result"
)

// measure is a number of an operation, or of a whole run.
type measure struct {
	name, title, unit string
	higher            bool // is better
	of                func(result.Result, result.Operation) *float64
}

// key tells metrics of a comparison apart.
type key struct{ operation, name string }

var ofOperation = []measure{
	{"mbit_per_s", "throughput", "mbit_per_s", true, func(_ result.Result, op result.Operation) *float64 {
		if op.Transfer == nil {
			return nil
		}
		return op.Transfer.MbitPerS
	}},
	{"rate_per_s", "rate", "per_s", true, func(_ result.Result, op result.Operation) *float64 {
		if op.Transfer != nil {
			return nil
		}
		return op.RatePerS
	}},
	latency("avg", "avg", func(l result.Latency) *float64 { return &l.Avg }),
	latency("p50", "P50", func(l result.Latency) *float64 { return l.P50 }),
	latency("p95", "P95", func(l result.Latency) *float64 { return l.P95 }),
	latency("p99", "P99", func(l result.Latency) *float64 { return l.P99 }),
	{"success", "success", "share", true, func(_ result.Result, op result.Operation) *float64 {
		if op.Requests == 0 {
			return nil
		}
		share := float64(op.Success) / float64(op.Requests)
		return &share
	}},
	{"lost", "lost", "share", false, func(_ result.Result, op result.Operation) *float64 {
		if op.Requests == 0 || !op.IsDatagrams() {
			return nil
		}
		share := op.LostShare()
		return &share
	}},
	{"cpu_us_per_operation", "CPU per operation", "us", false, func(r result.Result, op result.Operation) *float64 {
		if op.CPU == nil || r.IsControl(op.Name) { // the system has no part in a control
			return nil
		}
		return op.CPU.SystemUSPerOperation
	}},
}

func latency(name, title string, of func(result.Latency) *float64) measure {
	return measure{name, title, "ms", false, func(_ result.Result, op result.Operation) *float64 {
		if op.LatencyMS == nil {
			return nil
		}
		return of(*op.LatencyMS)
	}}
}

var ofRun = []measure{
	{"peak_rss_bytes", "total peak RSS", "bytes", false, ofTotal(func(p result.Process, _ result.Result) float64 {
		return float64(p.PeakRSSBytes)
	})},
	{"cpu_s", "total CPU", "s", false, ofTotal(func(p result.Process, _ result.Result) float64 { return p.CPUS })},
	{"cpu_us_per_operation", "CPU per operation", "us", false, func(r result.Result, op result.Operation) *float64 {
		var done int64
		for _, operation := range r.Operations {
			if operation.CPU != nil {
				return nil // each operation has its own
			}
			if !r.IsControl(operation.Name) {
				done += operation.Success
			}
		}
		if done == 0 {
			return nil
		}
		return ofTotal(func(p result.Process, _ result.Result) float64 { return p.CPUS * 1e6 / float64(done) })(r, op)
	}},
}

// ofTotal is of all processes of the system under test together.
func ofTotal(of func(result.Process, result.Result) float64) func(result.Result, result.Operation) *float64 {
	return func(r result.Result, _ result.Operation) *float64 {
		i := slices.IndexFunc(r.Processes, func(p result.Process) bool { return p.Role == "total" })
		if i < 0 {
			return nil
		}
		v := of(r.Processes[i], r)
		return &v
	}
}

// value returns a run's value of a metric, nil where it has none.
func value(r result.Result, k key) *float64 {
	measures, op := ofRun, result.Operation{}
	if k.operation != "" {
		i := slices.IndexFunc(r.Operations, func(op result.Operation) bool { return op.Name == k.operation })
		if i < 0 {
			return nil
		}
		measures, op = ofOperation, r.Operations[i]
	}
	for _, m := range measures {
		if m.name == k.name {
			return m.of(r, op)
		}
	}
	return nil
}

// rows lists the metrics that a result can have: each operation's, then the run's.
func rows(r result.Result) []Metric {
	var all []Metric
	add := func(operation, prefix string, control bool, measures []measure) {
		for _, m := range measures {
			better := "lower"
			if m.higher {
				better = "higher"
			}
			all = append(all, Metric{Operation: operation, Title: prefix + m.title, Name: m.name, Unit: m.unit,
				Better: better, Control: control, Notes: []string{}})
		}
	}
	for _, op := range r.Operations {
		add(op.Name, op.Title+" ", r.IsControl(op.Name), ofOperation)
	}
	add("", "", false, ofRun)
	return all
}
