// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"
	"math"

	"windtunnel/k6/internal/result"
)

// roundTripsMetric has the round trips of a link until a new tunnel's first bytes are back, with fractions: the slope of that time over
// the link's round trip, from two delays.
const roundTripsMetric = "operation_round_trips"

// unclearTrips: a slope so far from a whole number has noise in it.
const unclearTrips = 0.25

// tripsOf is the slope of an operation; nil where none was measured.
func tripsOf(m Metrics, operation string) *float64 {
	slope, recorded := of(m, roundTripsMetric, operation)["med"]
	if !recorded {
		return nil
	}
	return &slope
}

// roundTripsLine judges the nearest whole number. Of a slope between two of them it takes the lower one: whether the bound holds is then
// not known, which tripsClear says; what is beyond it by a whole round trip is.
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

// tripsClear is about a count that a bound is judged by.
func tripsClear(m Metrics, op Operation) *result.Validity {
	if op.Bounds["round_trips"] == nil {
		return nil
	}
	slope := tripsOf(m, op.Name)
	name := "round trips: " + op.Name
	if slope == nil {
		return check(name, "samples", false, "not counted: one of the two delays has no time")
	}
	detail := fmt.Sprintf("%.2f", *slope)
	if isUnclear(*slope) {
		detail += " is no whole number: the machine was too busy for it"
	}
	return check(name, "samples", !isUnclear(*slope), detail)
}
