// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"regexp"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

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

// aggregateIn is the aggregate in a k6 expression.
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
