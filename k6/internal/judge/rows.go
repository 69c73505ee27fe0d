// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// Metrics are the recorded metrics, by name and tags; *record.Record implements it.
type Metrics interface {
	Values(metric string, tags map[string]string) (record.Values, bool)
}

// cut is the kind of a request that began and never ended.
const cut = "cut"

// rounded rounds milliseconds, seconds and rates to five decimals: a direct round trip takes hundredths of a
// millisecond.
func rounded(v float64) float64 { return math.Floor(v*1e5+0.5) / 1e5 }

// rowOf is one row of the table. A rate is counted over the operation's own window, not over the whole run of k6. The
// window is from the first start to the last end, and at least the planned seconds if time bounds it; for a probe it is
// the measured parts. A request that began and neither succeeded nor failed was cut, and counts as failed.
func rowOf(m Metrics, op Operation, plannedS float64) result.Operation {
	latency := of(m, "operation_ms", op.Name)
	// An interrupt may fall between two samples of one request, so a success is counted by its latency alone.
	success := int64(latency["count"])
	// k6 counts a sample of true as a pass; here true means a failed request.
	ended := success + int64(of(m, "operation_failed", op.Name)["passes"])
	requests := max(ended, int64(of(m, "operation_begun", op.Name)["count"]))
	row := result.Operation{
		Name: op.Name, Title: op.Title, Loop: op.Loop, LatencyIs: op.LatencyIs, Primary: op.Primary,
		Requests: requests, Success: success, Errors: errorsOf(m, op.Name),
	}
	row.Details = detailsOf(m, op.Name, row.Errors)
	if requests > ended {
		row.Errors[cut] = requests - ended
	}
	if requests > 0 {
		row.WindowS = windowOf(m, op.Name, plannedS)
	}
	row.RatePerS = perSecond(float64(success), row.WindowS)
	if op.Items != "" {
		carried := of(m, "operation_items", op.Name)["count"]
		row.Items = &result.Items{Name: op.Items, Count: int64(carried), RatePerS: perSecond(carried, row.WindowS)}
	}
	var lateness record.Values
	if op.Loop == "open" {
		// Only an open loop's latency includes the lateness.
		lateness = of(m, "operation_lateness_ms", op.Name)
	}
	row.LatencyMS = latencyOf(latency, lateness)
	addProbed(m, &row)
	return row
}

func perSecond(count, seconds float64) *float64 {
	if seconds <= 0 {
		return nil
	}
	return new(math.Floor(count/seconds*1000+0.5) / 1000)
}

func latencyOf(values, lateness record.Values) *result.Latency {
	count := int64(values["count"])
	if count == 0 {
		return nil
	}
	latency := &result.Latency{Count: count, Avg: rounded(values["avg"]), Min: rounded(values["min"]), Max: rounded(values["max"])}
	for _, p := range record.Percentiles {
		if Carries(p.Share, count) && isDistinguishable(values[p.Name], lateness[p.Name]) {
			*latency.Percentile(p.Share) = new(rounded(values[p.Name]))
		}
	}
	return latency
}

func errorsOf(m Metrics, operation string) map[string]int64 {
	errors := map[string]int64{}
	for _, kind := range kinds.Names {
		values, _ := m.Values("operation_errors", map[string]string{"operation": operation, "kind": kind})
		if count := int64(values["count"]); count > 0 {
			errors[kind] = count
		}
	}
	return errors
}

// tagged are metrics that list the values of a tag.
type tagged interface {
	TagValues(metric string, tags map[string]string, tag string) []string
}

// detailsOf are the answers with an operation's errors, the most frequent of each kind first.
func detailsOf(m Metrics, operation string, errors map[string]int64) (details []result.ErrorDetail) {
	known, ok := m.(tagged)
	if !ok {
		return nil
	}
	const metric = "operation_error_details"
	for _, kind := range kinds.Names {
		if errors[kind] == 0 {
			continue
		}
		var own []result.ErrorDetail
		tags := map[string]string{"operation": operation, "kind": kind}
		for _, detail := range known.TagValues(metric, tags, "detail") {
			values, _ := m.Values(metric, map[string]string{"operation": operation, "kind": kind, "detail": detail})
			own = append(own, result.ErrorDetail{Kind: kind, Detail: detail, Count: int64(values["count"])})
		}
		slices.SortStableFunc(own, func(a, b result.ErrorDetail) int { return cmp.Compare(b.Count, a.Count) })
		details = append(details, own...)
	}
	return details
}

// windowOf is the length of a row's rate window, in seconds.
func windowOf(m Metrics, operation string, plannedS float64) float64 {
	if probed := of(m, "operation_active_s", operation)["count"]; probed > 0 {
		return probed
	}
	clock := of(m, "operation_clock_ms", operation)
	return math.Max(plannedS, rounded((clock["max"]-clock["min"])/1000))
}

// addProbed adds the figures that only a probe has: bytes moved, and CPU time for each operation.
func addProbed(m Metrics, row *result.Operation) {
	sum := func(name string) float64 { return of(m, "operation_"+name, row.Name)["count"] }
	if sum("active_s") == 0 {
		return
	}
	// A handshake carries no payload.
	if bytes := sum("bytes"); bytes > 0 {
		row.Transfer = &result.Transfer{Bytes: int64(bytes)}
		if row.WindowS > 0 {
			row.Transfer.MbitPerS = new(rounded(bytes * 8 / row.WindowS / 1e6))
		}
	}
	each := func(seconds float64) *float64 {
		if row.Success == 0 {
			return nil
		}
		return new(rounded(seconds * 1e6 / float64(row.Success)))
	}
	probe := sum("probe_cpu_s")
	row.CPU = &result.CPU{ProbeS: probe, ProbeUSPerOperation: each(probe)}
	if sum("system_peak_bytes") > 0 {
		system := sum("system_cpu_s")
		row.CPU.SystemS, row.CPU.SystemUSPerOperation = &system, each(system)
	}
}

// controlsOf returns, for each operation with a control, the cost that the system adds.
func controlsOf(d Declared, rows []result.Operation) (controls []result.Control) {
	for _, own := range rows {
		direct, ok := find(rows, d.find(own.Name).Control)
		if !ok {
			continue
		}
		added := result.Control{Operation: own.Name, Control: direct.Name}
		if own.LatencyMS != nil && direct.LatencyMS != nil {
			added.P50MS = minus(own.LatencyMS.P50, direct.LatencyMS.P50)
			added.P95MS = minus(own.LatencyMS.P95, direct.LatencyMS.P95)
			added.P99MS = minus(own.LatencyMS.P99, direct.LatencyMS.P99)
		}
		if own.RatePerS != nil && direct.RatePerS != nil && *direct.RatePerS > 0 {
			added.RateRatio = new(rounded(*own.RatePerS / *direct.RatePerS))
		}
		controls = append(controls, added)
	}
	return controls
}

func minus(own, other *float64) *float64 {
	if own == nil || other == nil {
		return nil
	}
	return new(rounded(*own - *other))
}

func find(rows []result.Operation, name string) (result.Operation, bool) {
	return seq.Find(rows, func(row result.Operation) bool { return row.Name == name })
}

// Carries reports whether a percentile, given as a share (0 to 1), is meaningful for a number of samples: at least one
// sample must lie beyond it. The 99th percentile of 50 samples would only be their maximum under a misleading name.
func Carries(share float64, samples int64) bool { return float64(samples)*(1-share) >= 1-1e-9 }

// shareOf is the share of a threshold's aggregate, such as p(95); false if it is no percentile.
func shareOf(expression string) (float64, bool) {
	aggregate := aggregateIn(expression)
	for _, p := range record.Percentiles {
		if p.Name == aggregate {
			return p.Share, true
		}
	}
	text, found := strings.CutPrefix(aggregate, "p(")
	if !found {
		return 0, false
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, ")"), 64)
	return percent / 100, err == nil
}
