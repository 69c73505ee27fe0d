// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"

	"windtunnel/k6/internal/result"
)

// roundTripsMetric is the number of a link's round trips until a new tunnel's first bytes are back, with fractions. It
// is the slope of that time over the link's round-trip time, from two delays.
const roundTripsMetric = "operation_round_trips"

// unclearTrips is the distance of a slope from the nearest whole number above which the slope is noisy.
const unclearTrips = 0.25

// tripsOf is the slope of an operation; nil if it was not measured.
func tripsOf(m Metrics, operation string) *float64 {
	slope, recorded := of(m, roundTripsMetric, operation)["med"]
	if !recorded {
		return nil
	}
	return &slope
}

// roundTripsLine judges the nearest whole number. For a slope between two whole numbers it uses the lower one: whether
// the bound holds is then unknown, which tripsClear reports. A slope that is beyond the bound by a whole round trip
// still fails.
func roundTripsLine(m Metrics, operation string, most float64) result.Threshold {
	b := bounded{roundTripsMetric, "med", "<=", most, "count"}
	line := result.Threshold{Operation: operation, Metric: b.metric, Expression: b.expression(), Unit: b.unit}
	if slope := tripsOf(m, operation); slope != nil {
		count := math.Round(*slope)
		if isUnclear(*slope) {
			count = math.Floor(*slope)
		}
		line.Value, line.OK = &count, b.holds(count)
	}
	return inWords(line, "")
}

func isUnclear(slope float64) bool { return math.Abs(slope-math.Round(slope)) > unclearTrips }

// tripsClear checks that a count with a bound is near a whole number.
func tripsClear(m Metrics, op Operation) *result.Validity {
	if op.Bounds["round_trips"] == nil {
		return nil
	}
	slope := tripsOf(m, op.Name)
	name := "round trips: " + op.Name
	if slope == nil {
		return check(name, "samples", false, "not counted: a run with one of the two delays has no latency")
	}
	detail := fmt.Sprintf("%.2f", *slope)
	if isUnclear(*slope) {
		detail += " is not a whole number: the machine was too busy"
	}
	return check(name, "samples", !isUnclear(*slope), detail)
}
