// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// judge sets the verdict from the failures, from the evidence that the runs can give, and from the outcome of the
// metrics. Evidence against B comes before missing evidence, and missing evidence before a pass.
func (c *Comparison) judge(q Request, goodA, goodB int, metrics difference.Outcome) {
	c.noteRuns(q)
	doubts, kind := c.doubts(q, goodA, goodB)
	c.noteRest(q)
	drift := c.drift()
	if memory := c.memoryReasons(); len(doubts) == 0 && len(drift) > 0 && len(memory) > 0 && !q.Interrupted {
		// A change of the machine affects the time of a control, but not the memory of a system.
		c.Verdict, c.Reasons = Fail, memory
		c.Notes = append(c.Notes, drift...)
		return
	}
	if len(drift) > 0 {
		doubts, kind = append(doubts, drift...), cmp.Or(kind, TooNoisy)
	}
	failing := c.failing()
	inconclusive := func(kind string, reasons ...[]string) {
		if len(c.missing) > 0 {
			kind = IsMissing
		}
		c.Verdict, c.Doubt, c.Reasons = Inconclusive, kind, slices.Concat(append([][]string{c.missing}, reasons...)...)
	}
	switch {
	case failing == difference.Beyond && !q.Interrupted:
		c.Verdict, c.Reasons = Fail, c.failureReasons(difference.Beyond)
		c.Notes = slices.Concat(c.Notes, doubts, c.missing)
	case len(c.lost) > 0 && !q.Interrupted:
		c.Verdict, c.Reasons = Fail, slices.Concat(c.lost, c.failureReasons(""))
		c.Notes = slices.Concat(c.Notes, doubts, c.missing)
	case len(doubts) > 0:
		inconclusive(kind, doubts, c.failureReasons(""))
	case metrics == difference.Beyond:
		c.Verdict, c.Reasons = Fail, append(c.gateReasons(), c.failureReasons("")...)
		c.Notes = append(c.Notes, c.missing...)
	case len(c.missing) > 0 || failing == difference.Unclear || metrics == difference.Unclear:
		inconclusive(c.doubtOfMetrics(), c.failureReasons(""), c.unclearReasons(), c.mute)
	case len(c.mute) > 0 || c.noSecondary != "":
		inconclusive(TooLittleTime, c.mute, nonEmpty(c.noSecondary))
	default:
		c.Verdict = Pass
	}
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// doubtOfMetrics is the doubt of a comparison with an unclear metric or failure: more pairs decide, unless the metric is
// too near its bound for any number of pairs.
func (c *Comparison) doubtOfMetrics() string {
	for _, m := range c.Metrics {
		if m.Role == Primary && m.Outcome == string(difference.Unclear) && m.MorePairs != nil && *m.MorePairs < 0 {
			return TooNoisy
		}
	}
	return TooLittleTime
}

// noteRuns adds notes about single runs. Runs with the same cause share a line, with the message of the first.
func (c *Comparison) noteRuns(q Request) {
	type note struct{ side, what, cause, why, file string }
	var all []note
	for _, s := range []struct {
		name string
		runs []Measured
	}{{"A", q.A}, {"B", q.B}} {
		for _, m := range s.runs {
			why := strings.Join(m.Reasons, "; ")
			n := note{s.name, "used although it failed", why, why, m.File}
			if left := Unusable(m); left != "" {
				n = note{s.name, "left out because the measurement, not the system, failed", cmp.Or(fault(m).Check, left), left, m.File}
				if failed(m) != "" {
					n.what = "counted as a failure of its side, without figures"
				}
			} else if m.Outcome == run.Pass {
				continue
			}
			all = append(all, n)
		}
	}
	for _, same := range seq.Group(all, func(n note) [3]string { return [3]string{n.side, n.what, n.cause} }) {
		of := strings.Join(seq.Map(same, func(n note) string { return n.file }), ", ")
		if n := len(same); n > 3 {
			of = fmt.Sprintf("%s and %d more runs", same[0].file, n-1)
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%s of %s: %s: %s", of, same[0].side, same[0].what, same[0].why))
	}
	if c.kept {
		c.noteKept(len(good(q.A)))
	} else if !c.Interleaved && len(c.Metrics) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("the runs were not interleaved: the machine may have changed by %g %%, so each interval is widened by the same amount", tieBound))
	}
}

// doubts are the reasons why the runs cannot support a verdict, whatever the metrics are, and the kind of the first
// reason.
func (c *Comparison) doubts(q Request, goodA, goodB int) (all []string, kind string) {
	doubt := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if q.Interrupted {
		doubt("interrupted after %s", format.Plural(pairs(q.A, q.B), "pair"))
		kind = TooLittleTime
	}
	for _, s := range []struct {
		name string
		runs []Measured
		good int
		kept int // good runs, plus B's failures that count as evidence against it
	}{{"A", q.A, goodA, goodA}, {"B", q.B, goodB, undisturbed(q.B)}} {
		if len(s.runs) == 0 || float64(s.kept) < goodShare*float64(len(s.runs)) {
			doubt("only %d of the %d runs of %s can be used; at least %g %% is needed%s", s.good, len(s.runs), s.name, goodShare*100, firstCause(s.runs))
			kind = cmp.Or(kind, doubtOfRuns(s.runs))
		}
	}
	switch least, fewest := min(goodA, goodB), q.Look.FewestPairs(); {
	case least == 0 && len(all) > 0: // reported already
	case q.Kept: // the interval includes the uncertainty of a single run
	case goodA == 1 && goodB == 1:
		doubt("one run each: no confidence")
		kind = cmp.Or(kind, TooLittleTime)
	case least < fewest:
		kind = cmp.Or(kind, TooLittleTime)
		doubt("too few runs: %d of A and %d of B can be used; a confidence of %s %% needs %d of each", goodA, goodB, confidenceText(c.Confidence), fewest)
	}
	return all, kind
}

// undisturbed counts the runs that are evidence about their side.
func undisturbed(runs []Measured) int {
	return seq.Count(runs, func(m Measured) bool { return !disturbed(m) })
}

// doubtOfRuns is the doubt of a side with too few usable runs.
func doubtOfRuns(runs []Measured) string {
	if !slices.ContainsFunc(runs, func(m Measured) bool { return m.Result != nil }) {
		return IsMissing
	}
	return TooNoisy
}

// drift names the controls that differ like a system might. Without turns, the machine may have changed, which is a
// doubt. In pairs with random order, a drift affects both sides alike: a control that moves with the side is an effect
// of the side, which is noted.
func (c *Comparison) drift() []string {
	var all []string
	for _, m := range c.Metrics {
		switch {
		case !m.drifted:
		case c.Interleaved:
			c.Notes = append(c.Notes, fmt.Sprintf("the control also differs between the sides, in each pair: %s %s: one side affects other programs", m.Title, changeText(m.Change)))
		default:
			all = append(all, fmt.Sprintf("the control also differs: %s %s: the machine changed, not the proxy", m.Title, changeText(m.Change)))
		}
	}
	return all
}

func (c *Comparison) memoryReasons() []string {
	only := *c
	only.Metrics = slices.DeleteFunc(slices.Clone(c.Metrics), func(m Metric) bool { return m.Name != "peak_anon_bytes" })
	return only.gateReasons()
}

// busyAtRest is the CPU share (percent of one CPU) above which an idle side is reported.
const busyAtRest = 20.0

// noteRest reports each side's CPU share while idle, if it is large.
func (c *Comparison) noteRest(q Request) {
	a, b := restOf(q.A), restOf(q.B)
	if max(a, b) >= busyAtRest {
		c.Notes = append(c.Notes, fmt.Sprintf("while idle, the system uses %.0f %% of a CPU on A and %.0f %% on B (medians of the sampled runs)", a, b))
	}
}

// restOf is the median of a side's idle CPU share after the loads, in percent of one CPU; 0 if no run sampled it.
func restOf(runs []Measured) float64 {
	var all []float64
	for _, m := range runs {
		if m.Result == nil {
			continue
		}
		if rest := m.Result.AtRestAfter(); rest != nil {
			all = append(all, rest.CPUPercent)
		}
	}
	return difference.Median(all)
}

func firstCause(runs []Measured) string {
	for _, m := range runs {
		if why := Unusable(m); why != "" {
			return ": " + why
		}
	}
	return ""
}

func (c *Comparison) gateReasons() []string {
	return seq.Map(seq.Filter(c.Metrics, func(m Metric) bool { return m.Gate }), func(m Metric) string {
		return fmt.Sprintf("%s is worse by more than %s: %s (%s)", m.Title, m.boundText(c.WorseByPercent), changeText(m.Change), interval(m.Change))
	})
}

func (m Metric) boundText(percent float64) string {
	if m.shares() {
		return fmt.Sprintf("%g points", percent*sharePoints)
	}
	return fmt.Sprintf("%g %%", percent)
}

// unclearReasons say for each primary metric that is not within its bound which loss the pairs could have shown, and
// what would decide.
func (c *Comparison) unclearReasons() []string {
	var all []string
	for _, m := range c.Metrics {
		if m.Role != Primary {
			continue
		}
		switch {
		case m.Outcome == string(difference.Within):
		case m.WorseAtMost == nil:
			all = append(all, m.Title+" is unclear: too few complete pairs")
		case *m.WorseAtMost < c.boundOf(m):
			all = append(all, m.Title+" is within its bound only without the pairs that were left out")
		default:
			all = append(all, m.Title+" is unclear: "+m.seen()+m.more())
		}
	}
	return all
}

// boundOf is a metric's bound on the scale of WorseAtMost.
func (c *Comparison) boundOf(m Metric) float64 {
	if m.shares() {
		return c.WorseByPercent * sharePoints
	}
	return c.WorseByPercent
}

// seen says which loss an unclear metric's pairs could have shown.
func (m Metric) seen() string {
	what := "an increase"
	if m.isSpeed() {
		what = "a slow-down"
	}
	return fmt.Sprintf("%s of %s %% or more would have been detected", what, short(*m.WorseAtMost))
}

func (m Metric) more() string {
	switch {
	case m.MorePairs == nil:
		return ""
	case *m.MorePairs < 0:
		return fmt.Sprintf("; the change is too near the bound: even %d pairs would not decide", difference.MostPairs)
	}
	return fmt.Sprintf("; about %s would decide", format.Plural(*m.MorePairs, "more pair"))
}

// failureReasons returns a line for each kind of failure with this outcome, or with "" for each kind that B has more of.
func (c *Comparison) failureReasons(only difference.Outcome) []string {
	var all []string
	for _, f := range c.Failures {
		if f.Outcome == string(difference.Within) || only != "" && f.Outcome != string(only) {
			continue
		}
		line := fmt.Sprintf("B fails more: %s in %s of B and %s of A", f.Kind, f.B.text(f.Of), f.A.text(f.Of))
		if f.Outcome == string(difference.Unclear) {
			line += "; this may be chance, but the comparison cannot pass"
			if f.excused > 0 {
				line += fmt.Sprintf(" (%d of B in runs that the machine disturbed)", f.excused)
			}
		}
		all = append(all, line)
	}
	return all
}

func (t Tally) text(of string) string {
	return fmt.Sprintf("%s of %s %s", format.Count(t.Failed), format.Count(t.Of), of)
}
