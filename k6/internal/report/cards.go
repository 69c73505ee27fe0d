// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// card summarizes a scenario. Value is "" if nothing was measured; Unit describes the value.
type card struct {
	Name, Outcome, Title string
	Value, Unit          string
	Lines                []string
}

func cards(set Set) []card {
	var all []card
	for _, e := range set.Entries() {
		c := card{Name: e.Name, Outcome: e.Outcome}
		if e.Result != nil {
			c.Title = e.Result.Run.Title
			c.lead(*e.Result, e.Outcome)
		}
		if len(e.Reasons) > 0 {
			c.Lines = append(c.Lines, format.Shorten(e.Reasons[0].Text, 90))
		}
		all = append(all, c)
	}
	return all
}

// lead fills in the most important fact: a failure, or the answer to the scenario's question.
func (c *card) lead(r result.Result, outcome string) {
	if outcome == run.Fail && (c.failing(r) || c.crossed(r)) {
		return
	}
	if r.Headline == nil && c.glance(r) {
		return
	}
	op, figure, ok := headline(r)
	if !ok {
		return
	}
	c.Value, c.Unit = figureOf(op, figure)
	c.Lines = append(c.Lines, format.Success(op.Success, op.Requests)+" succeeded")
	if l := op.LatencyMS; l != nil {
		c.Lines = append(c.Lines, percentiles(*l))
	}
}

// failing leads with the operation with the largest share of failures, false if no such share crosses a threshold.
func (c *card) failing(r result.Result) bool {
	share := func(op result.Operation) float64 { return 1 - float64(op.Success)/float64(max(1, op.Requests)) }
	failed := slices.DeleteFunc(r.Judged(), func(op result.Operation) bool {
		return op.Requests == op.Success || !crosses(r, op.Name, "operation_failed", "operation_errors")
	})
	if len(failed) == 0 {
		return false
	}
	op := slices.MaxFunc(failed, func(a, b result.Operation) int { return cmp.Compare(share(a), share(b)) })
	part := share(op)
	c.Value, c.Unit = format.Share(&part), op.Name+" failed"
	if len(op.Errors) > 0 {
		c.Unit += ": " + strings.Join(slices.Sorted(maps.Keys(op.Errors)), ", ")
	}
	return true
}

func crosses(r result.Result, operation string, metrics ...string) bool {
	return slices.ContainsFunc(r.Thresholds, func(t result.Threshold) bool {
		return !t.OK && t.Operation == operation && slices.Contains(metrics, t.Metric)
	})
}

// crossed leads with the first failed threshold, false if all hold.
func (c *card) crossed(r result.Result) bool {
	t, failed := seq.Find(r.Thresholds, func(t result.Threshold) bool { return !t.OK && !r.IsControl(t.Operation) })
	if failed {
		measured, required := words(t)
		c.Value, c.Unit = measured, t.Operation+": "+required
	}
	return failed
}

// glance leads with the first section that has a short summary, false if none has.
func (c *card) glance(r result.Result) bool {
	section, found := seq.Find(r.Sections, func(s result.Section) bool { return s.Headline != nil })
	if !found {
		return false
	}
	summary := section.Headline
	c.Value, c.Unit = summary.Value, summary.Of
	if summary.Detail != "" {
		c.Lines = append(c.Lines, format.Shorten(summary.Detail, 90))
	}
	return true
}

// headline is the operation and figure that the scenario names, or the first operation and its rate; false if nothing
// was measured.
func headline(r result.Result) (op result.Operation, figure string, ok bool) {
	if r.Headline != nil {
		if op, ok := r.Find(r.Headline.Operation); ok && op.Success > 0 {
			return op, r.Headline.Figure, true
		}
	}
	op, ok = seq.Find(r.Operations, func(op result.Operation) bool { return op.Success > 0 })
	return op, "rate_per_s", ok
}

// figureOf writes a figure of a successful operation, with its name. A rate needs a window and a percentile needs
// samples: if the figure is missing, the next available one replaces it.
func figureOf(op result.Operation, figure string) (value, unit string) {
	l := op.LatencyMS
	switch {
	case figure == "mbit_per_s" && op.Transfer != nil && op.Transfer.MbitPerS != nil:
		return format.Mbit(op.Transfer.MbitPerS), "Mbit/s: " + op.Title
	case figure == "rate_per_s" && op.Items != nil && op.Items.RatePerS != nil:
		return format.Rate(op.Items.RatePerS), op.Items.Name + " per second"
	case figure != "p50_ms" && op.RatePerS != nil:
		return format.Rate(op.RatePerS), "per second: " + op.Title
	case l == nil:
		return format.Count(op.Success), "succeeded: " + op.Title
	case l.P50 != nil:
		return format.MS(l.P50) + " ms", "P50: " + op.Title
	}
	return format.MS(&l.Max) + " ms", "max: " + op.Title
}

// percentiles returns `P50 1.2 ms, P99 3.4 ms`, without percentiles that have too few samples.
func percentiles(l result.Latency) string {
	var parts []string
	for _, m := range marksOf(&l) {
		if m.name == "P50" || m.name == "P99" || m.name == "max" && l.P99 == nil {
			parts = append(parts, m.name+" "+format.MS(&m.value)+" ms")
		}
	}
	return strings.Join(parts, ", ")
}
