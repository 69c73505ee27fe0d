// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// none is the value of a tag that does not apply: InfluxDB has no empty tags.
const none = "-"

// Of identifies the subject of points: a scenario of a run, or the run itself if System and Scenario are "".
type Of struct{ TestID, Profile, System, Scenario string }

// tags are the tags of all measurements, and further pairs.
func (o Of) tags(pairs ...string) influx.Tags {
	tags := influx.Tags{"testid": o.TestID, "profile": o.Profile,
		"system": cmp.Or(o.System, none), "scenario": cmp.Or(o.Scenario, none)}
	for i := 0; i < len(pairs); i += 2 {
		tags[pairs[i]] = cmp.Or(pairs[i+1], none)
	}
	return tags
}

func (o Of) name() string {
	if o.Scenario == "" {
		return o.TestID
	}
	return o.System + "/" + o.Scenario
}

// The kinds of events. The event of a whole scenario is written at its end with the time of its beginning: Grafana draws
// a region from a point's time to a time in one of its fields.
const (
	runStart = "run_start"
	start    = "start"
	scenario = "scenario"
	runEnd   = "run_end"
	gap      = "gap"
	// A run of a comparison has separate kinds: the user did not ask for it alone.
	turnStart = "turn_start"
	turnEnd   = "turn_end"
)

func event(b *influx.Batch, of Of, kind, title, text string, at time.Time) {
	b.Add("events", of.tags("kind", kind), influx.Fields{"title": title, "text": text}, at)
}

// judged are the fields of an event with a verdict.
func judged(of Of, verdict, text string) influx.Fields {
	return influx.Fields{"title": of.name() + ": " + verdict, "text": text, "verdict": verdict}
}

// verdictCodes are the values of a verdict's field code; a scenario that did not run is inconclusive.
var verdictCodes = map[string]int64{run.Pass: 0, run.Fail: 1, run.Inconclusive: 2, run.Skipped: 2, run.SetupFailed: 3, run.Interrupted: 4, run.LeftOut: 5}

// outcome adds the end of a scenario: its event and its verdict. checks are the checks of its result, nil without a
// result.
func outcome(b *influx.Batch, of Of, verdict, reasons string, checks []result.Validity, took time.Duration, at time.Time) {
	began := at.Add(-took)
	event := judged(of, verdict, reasons)
	event["ended_ms"] = at.UnixMilli()
	b.Add("events", of.tags("kind", scenario), event, began)
	fields := influx.Fields{"verdict": verdict, "code": verdictCodes[verdict],
		"reasons": reasons, "seconds": took.Seconds(), "began_ms": began.UnixMilli(), "ended_ms": at.UnixMilli()}
	if checks != nil {
		failed := slices.ContainsFunc(checks, func(c result.Validity) bool { return c.OK != nil && !*c.OK })
		fields["trusted"] = truth(new(!failed))
	}
	b.Add("verdicts", of.tags(), fields, at)
}

// measured adds the figures of the whole scenario from its result.
func measured(b *influx.Batch, of Of, r result.Result, at time.Time) {
	for _, t := range r.Thresholds {
		thresholdPoint(b, of, t, at)
	}
	for _, op := range r.Operations {
		control, _ := r.ControlOf(op.Name)
		operationPoints(b, of, op, control.LatencyMS, at)
	}
	for _, v := range r.Validity {
		b.Add("validity", of.tags("check", v.Check), influx.Fields{"ok": truth(v.OK), "detail": v.Detail}, at)
	}
	for _, section := range r.Sections {
		sectionPoints(b, of, section, at)
	}
}

func thresholdPoint(b *influx.Batch, of Of, t result.Threshold, at time.Time) {
	fields := influx.Fields{"metric": t.Metric, "expression": t.Expression, "unit": t.Unit, "value": t.Value, "ok": truth(&t.OK)}
	if bound, ok := format.Bound(t.Expression); ok {
		fields["bound"] = bound
	}
	b.Add("thresholds", of.tags("operation", t.Operation, "threshold", t.Metric+" "+t.Expression), fields, at)
}

// operationPoints adds the figures of an operation, with the latencies of its control if it has one.
func operationPoints(b *influx.Batch, of Of, op result.Operation, control *result.Latency, at time.Time) {
	fields := influx.Fields{"requests": op.Requests, "success": op.Success, "failed": op.Requests - op.Success, "rate_per_s": op.RatePerS}
	if l := op.LatencyMS; l != nil {
		maps.Copy(fields, influx.Fields{"avg_ms": l.Avg, "min_ms": l.Min, "p50_ms": l.P50, "p90_ms": l.P90,
			"p95_ms": l.P95, "p99_ms": l.P99, "max_ms": l.Max})
	}
	if control != nil {
		maps.Copy(fields, influx.Fields{"control_p50_ms": control.P50, "control_p95_ms": control.P95})
	}
	if op.Transfer != nil {
		fields["mbit_per_s"] = op.Transfer.MbitPerS
	}
	b.Add("results", of.tags("operation", op.Name), fields, at)
	for _, kind := range slices.Sorted(maps.Keys(op.Errors)) {
		b.Add("errors", of.tags("operation", op.Name, "kind", kind), influx.Fields{"count": op.Errors[kind]}, at)
	}
}

// truth is 1 for true, 0 for false and -1 for unknown.
func truth(ok *bool) int64 {
	switch {
	case ok == nil:
		return -1
	case *ok:
		return 1
	}
	return 0
}

// sectionPoints adds a point for each row of a section. The fields are named by column: NAME is a number, or 1, 0 and -1
// for true, false and unknown; NAME_low and NAME_high are the ends of a range; NAME_text is a text. In InfluxDB, a field
// must have the same type in all sections.
func sectionPoints(b *influx.Batch, of Of, s result.Section, at time.Time) {
	for i, label := range s.Labels() {
		fields := influx.Fields{}
		for k, cell := range s.Rows[i] {
			name := s.Columns[k].Name
			switch {
			case cell.Text != nil:
				fields[name+"_text"] = *cell.Text
			case cell.OK != nil || s.Columns[k].Unit == "ok":
				fields[name] = float64(truth(cell.OK))
			default:
				fields[name] = cell.Value
			}
			if cell.Range != nil {
				fields[name+"_low"], fields[name+"_high"] = cell.Range.Low, cell.Range.High
			}
		}
		b.Add("sections", of.tags("section", s.Name, "row", label, "operation", s.Operation), fields, at)
	}
}
