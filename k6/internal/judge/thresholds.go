// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

type bounded struct {
	metric, aggregate, operator string
	bound                       float64
	unit                        string
}

func (b bounded) expression() string { return b.aggregate + b.operator + number(b.bound) }

func (b bounded) holds(value float64) bool {
	switch b.operator {
	case "<":
		return value < b.bound
	case "<=":
		return value <= b.bound
	}
	return value >= b.bound
}

// number writes a number with the fewest digits and without an exponent.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// boundedOf lists the bounds of an operation. In k6, a Trend without samples satisfies any p(95)<N, so each latency
// bound comes with a count of successes. A run that looks for the limit must exceed its bounds: only its steps are
// judged.
func (d Declared) boundedOf(op Operation) (all []bounded) {
	if d.Steps != nil {
		return nil
	}
	if least := d.leastItems(op); least > 0 {
		metric := "operation_items"
		if op.Uncounted {
			metric = "iterations"
		}
		all = append(all, bounded{metric, "count", ">=", least, "count"})
	}
	below := func(key, aggregate string) {
		if bound := op.Bounds[key]; bound != nil {
			all = append(all, bounded{"operation_ms", aggregate, "<", *bound, "ms"})
		}
	}
	below("avg", "avg")
	for _, p := range record.Percentiles {
		below(p.Bound, p.Name)
	}
	below("max", "max")
	// A share of 1 bounds nothing, because all requests may fail.
	if bound := op.Bounds["failed"]; bound != nil && *bound != 1 {
		all = append(all, bounded{"operation_failed", "rate", "<=", *bound, "share"})
	}
	if bound := op.Bounds["errors"]; bound != nil {
		all = append(all, bounded{"operation_errors", "count", "<=", *bound, "count"})
	}
	if bound := op.Bounds["anomalies"]; bound != nil {
		all = append(all, bounded{"operation_anomalies", "count", "<=", *bound, "count"})
	}
	return all
}

// Thresholds are k6's options.thresholds, so that a plain `k6 run` also fails by the bounds. An entry is an expression,
// or an object if it aborts the run. https://grafana.com/docs/k6/latest/using-k6/thresholds/
func (d Declared) Thresholds() map[string][]any {
	thresholds := map[string][]any{}
	for _, op := range d.Operations {
		for _, b := range d.boundedOf(op) {
			metric := b.metric + "{operation:" + op.Name + "}"
			thresholds[metric] = append(thresholds[metric], b.expression())
		}
	}
	d.addLimits(thresholds)
	return thresholds
}

func (d Declared) judged(m Metrics, row result.Operation, op Operation) (lines []result.Threshold) {
	for _, b := range d.boundedOf(op) {
		value := valueOf(m, row, b)
		line := result.Threshold{Operation: op.Name, Metric: b.metric, Expression: b.expression(), Value: &value, Unit: b.unit, OK: b.holds(value)}
		if b.metric == "iterations" {
			line.Metric = "successes"
		}
		if b.unit == "ms" && row.Success == 0 {
			line.Value = nil
		}
		lines = append(lines, inWords(line, op.Items))
	}
	// k6 divides by the time of the whole test; the rate here is over the operation's own window.
	if least := op.Bounds["rate"]; least != nil && d.Steps == nil {
		ok := row.RatePerS != nil && *row.RatePerS >= *least
		line := result.Threshold{Operation: op.Name, Metric: "rate", Expression: "rate>=" + number(*least), Value: row.RatePerS, Unit: "per_s", OK: ok}
		lines = append(lines, inWords(line, op.Items))
	}
	if most := op.Bounds["round_trips"]; most != nil && d.Steps == nil {
		lines = append(lines, roundTripsLine(m, op.Name, *most))
	}
	return lines
}

// valueOf is the value of a metric. k6 counts iterations, even failed ones, but a result counts only successful ones. k6
// does not know of cut requests, which count as failed.
func valueOf(m Metrics, row result.Operation, b bounded) float64 {
	switch {
	case b.metric == "iterations":
		return float64(row.Success)
	case b.metric == "operation_failed" && row.Errors[cut] > 0:
		return float64(row.Requests-row.Success) / float64(row.Requests)
	}
	return of(m, b.metric, row.Name)[b.aggregate]
}

// A wait through the proxy may be this many times the wait without it, and always this many ms.
const (
	controlTimes   = 20
	controlFloorMS = 20
)

// againstControl compares with the control: without a baseline, only the control shows gross slowness.
func againstControl(own, direct result.Operation) []result.Threshold {
	if own.LatencyMS == nil || own.LatencyMS.P50 == nil || direct.LatencyMS == nil || direct.LatencyMS.P50 == nil {
		return nil
	}
	bound := math.Max(controlFloorMS, precise(controlTimes**direct.LatencyMS.P50, 3))
	b := bounded{"operation_ms", "med", "<", bound, "ms"}
	value := *own.LatencyMS.P50
	return []result.Threshold{inWords(result.Threshold{
		Operation: own.Name, Metric: b.metric, Expression: b.expression(), Value: &value, Unit: b.unit, OK: b.holds(value),
	}, "")}
}

func precise(v float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return rounded
}

// countOf is the count of a metric over the whole run.
func countOf(m Metrics, metric string) float64 {
	values, _ := m.Values(metric, nil)
	return values["count"]
}

// of is the values of an operation's metric; nil if nothing was recorded.
func of(m Metrics, metric, operation string) record.Values {
	values, _ := m.Values(metric, map[string]string{"operation": operation})
	return values
}

// aboutErrors reports whether a threshold counts whatever the generator did. Round trips are a count, which a busy
// machine does not raise.
func aboutErrors(line result.Threshold) bool {
	if line.Metric == roundTripsMetric {
		return line.Value != nil
	}
	return line.Metric == "operation_failed" || line.Metric == "operation_errors" || line.Metric == "operation_anomalies"
}

// aggregateOf is the name in reports of an aggregate of k6's trends.
func aggregateOf(aggregate string) string {
	if aggregate == "avg" {
		return "average"
	}
	for _, p := range record.Percentiles {
		if p.Name == aggregate {
			return p.Title
		}
	}
	return aggregate
}

var expressionParts = regexp.MustCompile(`^([^<>=]+)([<>]=?)(.*)$`)

func aggregateIn(expression string) string {
	if parts := expressionParts.FindStringSubmatch(expression); parts != nil {
		return parts[1]
	}
	return expression
}

// inWords adds the measured value and the requirement, such as "P50 0.561 ms" and "at most 0.01 ms". items names, in the
// plural, the items of a success, if it carries several.
func inWords(line result.Threshold, items string) result.Threshold {
	parts := expressionParts.FindStringSubmatch(line.Expression)
	aggregate, operator := parts[1], parts[2]
	bound, _ := strconv.ParseFloat(parts[3], 64)
	line.Measured = aggregateOf(aggregate) + ": no sample"
	if line.Value != nil {
		line.Measured = measured(line.Metric, aggregate, *line.Value, bound, items)
	}
	equal := line.Value != nil && *line.Value == bound
	line.Required = relation(operator, equal) + " " + boundText(line.Metric, bound)
	return line
}

func measured(metric, aggregate string, value, bound float64, items string) string {
	switch metric {
	case "operation_ms":
		return aggregateOf(aggregate) + " " + format.Beside(format.MS, value, bound) + " ms"
	case "operation_failed":
		return format.Beside(format.Share, value, bound) + " failed"
	case "operation_errors":
		return counted(value, "error", "errors")
	case "operation_anomalies":
		return counted(value, "anomaly", "anomalies")
	case roundTripsMetric:
		return counted(value, "round trip", "round trips")
	case "rate":
		return "rate " + format.Beside(format.Rate, value, bound) + "/s"
	}
	if metric == "operation_items" && items != "" {
		return format.Count(int64(value)) + " " + items
	}
	return counted(value, "success", "successes")
}

func counted(value float64, singular, plural string) string {
	if value == 1 {
		return "1 " + singular
	}
	return format.Count(int64(value)) + " " + plural
}

func boundText(metric string, bound float64) string {
	switch metric {
	case "operation_failed":
		return number(precise(bound*100, 12)) + "%"
	case "operation_ms":
		return format.Thousands(number(bound)) + " ms"
	case "rate":
		return format.Thousands(number(bound)) + "/s"
	}
	return format.Thousands(number(bound))
}

// relation describes a value against its bound. A value equal to the bound fails if k6's operator is strict.
func relation(operator string, equal bool) string {
	switch {
	case operator == "<" && equal:
		return "below"
	case strings.HasPrefix(operator, "<"):
		return "at most"
	}
	return "at least"
}

func sentence(line result.Threshold) string { return line.Measured + ", " + line.Required }
