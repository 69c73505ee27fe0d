// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// measure is a figure of an operation, or of a whole run.
type measure struct {
	name, title, unit string
	higher            bool // is better
	of                func(result.Result, result.Operation) *float64
}

type key struct{ operation, name string }

// row is a metric of one result, before the comparison. value is nil if the result has no value.
type row struct {
	Metric
	value *float64
	quiet bool // a value on only one side is not reported
	said  bool // a text says why there is no value
}

func (r row) key() key { return key{r.Operation, r.Name} }

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
	{lostShare, "lost", "share", false, func(_ result.Result, op result.Operation) *float64 {
		if op.Requests == 0 || !op.IsDatagrams() {
			return nil
		}
		share := op.LostShare()
		return &share
	}},
	{measuredCPU, "CPU per operation", "us", false, func(r result.Result, op result.Operation) *float64 {
		if op.CPU == nil || r.IsControl(op.Name) { // a control does not involve the system
			return nil
		}
		return op.CPU.SystemUSPerOperation
	}},
	{wholeCPU, "CPU per operation", "us", false, func(r result.Result, op result.Operation) *float64 {
		if op.CPU == nil || op.CPU.SystemUSPerOperation == nil || r.CPU == nil || r.IsControl(op.Name) {
			return nil
		}
		measured := 0.0
		for _, other := range r.Judged() {
			if other.CPU != nil && other.CPU.SystemS != nil {
				measured += *other.CPU.SystemS
			}
		}
		if measured <= 0 {
			return nil
		}
		return new(*op.CPU.SystemUSPerOperation * r.CPU.SystemS / measured)
	}},
}

const (
	lostShare       = "lost"
	peakMemory      = "peak_anon_bytes"
	peakDescriptors = "peak_open_files"
	leftDescriptors = "left_descriptors"
	leftMemory      = "left_anon_bytes"
	// fewDescriptors and fewer harm nobody, and a program that opens three files more is no regression: all such numbers count
	// alike.
	fewDescriptors = 100
	// littleMemory is the growth that footprint/leak never takes for a leak, in MiB.
	littleMemory = 8
	// littleCPU is the CPU time of one tick of the kernel, in s. A ratio of shorter times says nothing.
	littleCPU = 0.01
)

// Units of a growth for each unit of work, in bytes and in descriptors or threads.
const (
	bytesEach = "bytes_each"
	countEach = "each"
)

// The CPU time per operation has two kinds. The first covers the measured parts of a probe, or the whole run without
// such parts. The second lasts to the end of the quiet period after the load, and includes deferred work of the system.
// CPU time outside measured parts is distributed to the operations in proportion to their measured CPU time.
const (
	measuredCPU = "cpu_us_per_operation"
	wholeCPU    = "whole_cpu_us_per_operation"
)

func latency(name, title string, of func(result.Latency) *float64) measure {
	return measure{name, title, "ms", false, func(_ result.Result, op result.Operation) *float64 {
		if op.LatencyMS == nil {
			return nil
		}
		return of(*op.LatencyMS)
	}}
}

var ofRun = []measure{
	// Own memory, not resident memory: the page cache decides how much of a program's text is resident.
	{peakMemory, "total peak own memory", "bytes", false, ofTotal(func(p result.Process) *float64 {
		if p.PeakAnonBytes == nil {
			return nil
		}
		return new(float64(*p.PeakAnonBytes))
	})},
	{peakDescriptors, fmt.Sprintf("total peak descriptors"+atLeast+"%d", fewDescriptors), "count", false, ofTotal(func(p result.Process) *float64 {
		if p.PeakOpenFiles == nil {
			return nil
		}
		return new(max(float64(*p.PeakOpenFiles), fewDescriptors))
	})},
	// One counts like none, so that a ratio exists.
	{leftDescriptors, "descriptors left beyond the slack" + atLeast + "1", "count", false, func(r result.Result, _ result.Operation) *float64 {
		left := r.Held.Beyond()
		if left == nil {
			return nil
		}
		return new(max(*left, 1))
	}},
	{leftMemory, fmt.Sprintf("own memory that stays after the load"+atLeast+"%d", littleMemory), "bytes", false, func(r result.Result, _ result.Operation) *float64 {
		stays := r.Held.Grown()
		if stays == nil {
			return nil
		}
		return new(max(*stays, littleMemory<<20))
	}},
	{"cpu_s", "total CPU", "s", false, ofTotal(func(p result.Process) *float64 { return new(p.CPUS) })},
	{measuredCPU, "CPU per operation", "us", false, func(r result.Result, op result.Operation) *float64 {
		done := doneWithoutParts(r)
		if done == 0 {
			return nil
		}
		return ofTotal(func(p result.Process) *float64 { return new(p.CPUS * 1e6 / done) })(r, op)
	}},
	{wholeCPU, "CPU per operation", "us", false, func(r result.Result, _ result.Operation) *float64 {
		done := doneWithoutParts(r)
		if done == 0 || r.CPU == nil {
			return nil
		}
		return new(r.CPU.SystemS * 1e6 / done)
	}},
	{"quiet_cpu_s", fmt.Sprintf("CPU in the quiet period after the load"+atLeast+"%g", littleCPU), "s", false, func(r result.Result, _ result.Operation) *float64 {
		if r.CPU == nil {
			return nil
		}
		return new(max(r.CPU.QuietSystemS, littleCPU))
	}},
}

// doneWithoutParts is the number of successful operations through the system; 0 if each operation has its own CPU time.
func doneWithoutParts(r result.Result) float64 {
	var done int64
	for _, operation := range r.Operations {
		if operation.CPU != nil {
			return 0
		}
		if !r.IsControl(operation.Name) {
			done += operation.Success
		}
	}
	return float64(done)
}

// ofTotal sums a figure over all processes of the system under test.
func ofTotal(of func(result.Process) *float64) func(result.Result, result.Operation) *float64 {
	return func(r result.Result, _ result.Operation) *float64 {
		total, known := seq.Find(r.Processes, func(p result.Process) bool { return p.Role == "total" })
		if !known {
			return nil
		}
		return of(total)
	}
}

// rows lists the possible metrics of a result: of each operation, then of the run.
func rows(r result.Result) []row {
	all := make([]row, 0, len(r.Operations)*len(ofOperation)+len(ofRun))
	add := func(op result.Operation, prefix string, control bool, measures []measure) {
		for _, m := range measures {
			role := Secondary
			switch {
			case control || m.name == "cpu_s" || m.name == "quiet_cpu_s" || m.name == "rate_per_s" && op.Loop == "open":
				// A figure that grows with the completed work is no fault of the faster side, and an open loop fixes its
				// own rate.
				role = Shown
			case m.name == measuredCPU && r.CPU != nil:
				role = Shown // a part of another metric
			}
			all = append(all, row{value: m.of(r, op), Metric: Metric{Operation: op.Name, Title: prefix + m.title, Name: m.name,
				Unit: m.unit, Better: direction(m.higher), Control: control, Role: role, Notes: []string{}}})
		}
	}
	for _, op := range r.Operations {
		add(op, op.Title+" ", r.IsControl(op.Name), ofOperation)
	}
	add(result.Operation{}, "", false, ofRun)
	return append(all, evidence(r)...)
}

func direction(higher bool) string {
	if higher {
		return "higher"
	}
	return "lower"
}

type table struct {
	pair   int
	result *result.Result
	rows   []row
	done   float64 // successful operations without controls
	values map[key]float64
}

func tabulate(runs []Measured) []table {
	var all []table
	for _, m := range runs {
		t := table{pair: m.Pair, result: m.Result, rows: rows(*m.Result), values: map[key]float64{}}
		for _, op := range m.Result.Judged() {
			t.done += float64(op.Success)
		}
		for _, row := range t.rows {
			if _, have := t.values[row.key()]; !have && row.value != nil {
				t.values[row.key()] = *row.value
			}
		}
		all = append(all, t)
	}
	return all
}

// noteNoLoss gives runs without a loss a share of 0, if any run has the metric: an operation of another name than udp… shows only
// by a loss that it sends datagrams.
func noteNoLoss(runs []table) {
	for _, r := range runs {
		for _, op := range r.result.Operations {
			of := key{op.Name, lostShare}
			if _, has := r.values[of]; !has && op.Requests > 0 && op.Transfer != nil && len(valuesOf(runs, of)) > 0 {
				r.values[of] = op.LostShare()
			}
		}
	}
}

// Figure is a judged metric's value in one run. Better is higher or lower.
type Figure struct {
	Operation string  `json:"operation"` // "" for the whole run
	Title     string  `json:"title"`
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Better    string  `json:"better"`
	Value     float64 `json:"value"`
}

// Higher reports whether a higher value is better.
func (f Figure) Higher() bool { return f.Better == direction(true) }

// Figures returns a result's judged metrics, in the order of a comparison's rows, without controls and metrics that are
// only shown.
func Figures(r result.Result) []Figure {
	var all []Figure
	for _, row := range rows(r) {
		if row.Control || row.Role == Shown || row.value == nil {
			continue
		}
		all = append(all, Figure{row.Operation, row.Title, row.Name, row.Unit, row.Better, *row.value})
	}
	return all
}
