// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/testbed"
)

// Request is what to compare and how to judge it.
type Request struct {
	ID           string
	Scenario     string // SYSTEM/NAME
	Folder       string // of its files, below that of a Set; "" where it is the only one
	A, B         []Measured
	SpecA, SpecB string
	Planned      int // pairs, 0 where none were
	Interrupted  bool
	WorseBy      float64 // percent
	Beds         func(name string) testbed.Testbed
}

// Make compares runs that Refusal does not refuse.
func Make(q Request) Comparison {
	c := Comparison{Schema: Schema, ID: q.ID, Made: time.Now().UTC().Truncate(time.Second), PlannedPairs: q.Planned,
		Interrupted: q.Interrupted, Confidence: confidence, Alpha: alpha, WorseByPercent: q.WorseBy,
		A: side(q.SpecA, q.A, q.Beds), B: side(q.SpecB, q.B, q.Beds), Metrics: []Metric{}, Notes: []string{}, Reasons: []string{}}
	c.System, c.Scenario, _ = strings.Cut(q.Scenario, "/")
	goodA, goodB := good(q.A), good(q.B)
	runs := append(slices.Clone(q.A), q.B...)
	all := results(runs)
	if len(all) > 0 {
		c.about(all[0])
		c.Notes = append(c.Notes, generatorDiffers(all)...)
		c.Notes = append(c.Notes, streamingDiffers(runs)...)
	}
	c.Interleaved = interleaved(q.A, q.B)
	if len(goodA) > 0 && len(goodB) > 0 {
		c.compare(goodA, goodB)
	}
	c.bottlenecks = bottlenecks(goodA, goodB)
	c.judge(q, len(goodA), len(goodB))
	return c
}

// about takes over what all runs share.
func (c *Comparison) about(r result.Result) {
	c.System, c.Scenario, c.Title, c.Profile = r.Run.System, r.Run.Scenario, r.Run.Title, r.Run.Profile
	c.Parameters, c.Placement, c.Host, c.Windtunnel = r.Run.Parameters, r.Run.Placement, r.Run.Host, r.Run.Versions["windtunnel"]
}

func side(spec string, runs []Measured, beds func(string) testbed.Testbed) Side {
	s := Side{Spec: spec, Versions: map[string]string{}, Runs: []SideRun{}}
	for _, m := range runs {
		r := SideRun{File: m.File, Pair: m.Pair, Outcome: m.Outcome, Message: unusable(m)}
		r.Used = r.Message == ""
		if r.Used && m.Outcome != run.Pass {
			r.Message = strings.Join(m.Reasons, "; ")
		}
		if m.Result != nil {
			r.ID, r.Start = m.Result.Run.ID, &m.Result.Run.Start
			if bed := m.Result.Run.Testbed; s.Testbed == nil && bed != nil {
				s.Testbed = &result.Testbed{Name: bed.Name, Variables: withoutPorts(bed, beds)}
			}
			if len(s.Versions) == 0 {
				s.Versions = systemVersions(*m.Result)
			}
		}
		s.Runs = append(s.Runs, r)
	}
	return s
}

// unusable says why a run's numbers are not used, "" where they are. A run that crossed a threshold
// is measured as well as any: leaving it out would hide the slow ones.
func unusable(m Measured) string {
	why := strings.Join(m.Reasons, "; ")
	switch {
	case m.Result == nil:
		if why == "" {
			why = "there is no result"
		}
		return why
	case m.Outcome != run.Pass && m.Outcome != run.Fail:
		if why == "" {
			why = m.Outcome
		}
		return why
	}
	for _, check := range m.Result.Validity {
		if check.OK != nil && !*check.OK {
			return check.Check + ": " + check.Detail
		}
	}
	return ""
}

func good(runs []Measured) []Measured {
	return slices.DeleteFunc(slices.Clone(runs), func(m Measured) bool { return unusable(m) != "" })
}

// interleaved reports whether the runs took turns: each pair's two runs followed one another.
func interleaved(a, b []Measured) bool {
	type moment struct {
		start time.Time
		pair  int
	}
	var order []moment
	for _, m := range append(slices.Clone(a), b...) {
		if m.Pair == 0 {
			return false
		}
		if m.Result != nil {
			order = append(order, moment{m.Result.Run.Start, m.Pair})
		}
	}
	slices.SortStableFunc(order, func(a, b moment) int { return a.start.Compare(b.start) })
	// Each pair is met once: a run of it that lies elsewhere did not take its turn.
	seen := map[int]bool{}
	for i, m := range order {
		if i > 0 && m.pair != order[i-1].pair && seen[m.pair] {
			return false
		}
		seen[m.pair] = true
	}
	return len(order) > 0
}

// compare fills the metrics from the runs that are used.
func (c *Comparison) compare(a, b []Measured) {
	have := map[key]bool{}
	valuesA, valuesB := tabulate(a), tabulate(b)
	for _, m := range append(slices.Clone(a), b...) {
		for _, row := range rows(*m.Result) {
			if have[row.key()] {
				continue
			}
			have[row.key()] = true
			if filled, ok := c.metric(row, valuesA, valuesB); ok {
				c.Metrics = append(c.Metrics, filled)
			}
		}
	}
	// Of the whole run last, also where an operation is in B's runs only.
	slices.SortStableFunc(c.Metrics, func(x, y Metric) int { return boolean(x.Operation == "") - boolean(y.Operation == "") })
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// metric compares a row; it tells false where a side has no value.
func (c *Comparison) metric(r row, a, b []table) (Metric, bool) {
	m := r.Metric
	valuesA, byPairA := valuesOf(a, r.key())
	valuesB, byPairB := valuesOf(b, r.key())
	if len(valuesA) == 0 && len(valuesB) == 0 {
		return m, false
	}
	m.Judgement = NotJudged
	if len(valuesA) == 0 || len(valuesB) == 0 {
		have := "A"
		if len(valuesA) == 0 {
			have = "B"
		}
		if !r.quiet {
			c.Notes = append(c.Notes, fmt.Sprintf("only %s has: %s", have, m.Title))
		}
		return m, false
	}
	m.A, m.B = summarize(valuesA), summarize(valuesB)
	m.P = difference(valuesA, valuesB)
	points := m.Unit == "share"
	if c.Interleaved {
		var pairsA, pairsB []float64
		for _, t := range a {
			x, inA := byPairA[t.pair]
			if y, inB := byPairB[t.pair]; inA && inB {
				pairsA, pairsB = append(pairsA, x), append(pairsB, y)
			}
		}
		m.Change = pairedChange(pairsA, pairsB, points)
	} else {
		m.Change = unpairedChange(m.A, m.B, points)
	}
	for _, part := range []struct {
		name      string
		has, runs int
	}{{"A", len(valuesA), len(a)}, {"B", len(valuesB), len(b)}} {
		if part.has < part.runs {
			m.Notes = append(m.Notes, fmt.Sprintf("%d of %d runs of %s have a value", part.has, part.runs, part.name))
		}
		if float64(part.has) < goodShare*float64(part.runs) {
			return m, true // not judged
		}
	}
	c.judgeMetric(&m)
	return m, true
}

// valuesOf returns the values of a metric in the order of the runs, and by pair.
func valuesOf(runs []table, k key) ([]float64, map[int]float64) {
	var values []float64
	byPair := map[int]float64{}
	for _, t := range runs {
		if v, ok := t.values[k]; ok {
			values = append(values, v)
			byPair[t.pair] = v
		}
	}
	return values, byPair
}

// judgeMetric tells whether the metric differs: by the test and by the interval of the change. A
// control is not judged, but noted where it drifts.
func (c *Comparison) judgeMetric(m *Metric) {
	if m.Change == nil || m.P == nil || m.Change.Lo == nil || m.Change.Hi == nil {
		return // too few for an interval
	}
	size := math.Abs(m.Change.Median)
	significant := *m.P < alpha && (*m.Change.Lo > 0 || *m.Change.Hi < 0)
	if m.Control {
		// High percentiles say little about a machine.
		steady := slices.Contains([]string{"mbit_per_s", "rate_per_s", "avg", "p50"}, m.Name)
		m.drifted = significant && steady && size > tieBound
		return
	}
	if significant && !c.Interleaved && size < bound(tieBound, *m) {
		m.Notes = append(m.Notes, fmt.Sprintf("a tie: the runs did not take turns, and it is less than %g %%", tieBound))
		significant = false
	}
	switch {
	case !significant:
		m.Judgement = NoneFound
	case (m.Change.Median > 0) == (m.Better == "higher"):
		m.Judgement = Better
	default:
		m.Judgement = Worse
		m.Gate = !m.evidence && size > bound(c.WorseByPercent, *m)
	}
}

// bound turns percents into what a metric's change is measured in.
func bound(percent float64, m Metric) float64 {
	if m.Change.Unit == "points" {
		return percent * sharePoints
	}
	return percent
}

// judge sets the verdict from the metrics and from what the runs can carry.
func (c *Comparison) judge(q Request, goodA, goodB int) {
	doubt := func(format string, args ...any) { c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...)) }
	if q.Interrupted {
		doubt("interrupted: %d of %d pairs were measured", pairs(q.A, q.B), q.Planned)
	}
	for _, s := range []struct {
		name      string
		runs      []Measured
		good, bad int
	}{{"A", q.A, goodA, len(q.A) - goodA}, {"B", q.B, goodB, len(q.B) - goodB}} {
		for _, m := range s.runs {
			if why := unusable(m); why != "" {
				c.Notes = append(c.Notes, fmt.Sprintf("%s of %s is left out: %s", m.File, s.name, why))
			} else if m.Outcome != run.Pass {
				c.Notes = append(c.Notes, fmt.Sprintf("%s of %s is used although it failed: %s", m.File, s.name, strings.Join(m.Reasons, "; ")))
			}
		}
		if len(s.runs) == 0 || float64(s.good) < goodShare*float64(len(s.runs)) {
			doubt("%d of the %d runs of %s can be used; it takes %g %%", s.good, len(s.runs), s.name, goodShare*100)
		}
	}
	switch least := min(goodA, goodB); {
	case goodA == 1 && goodB == 1:
		doubt("one run each: no confidence")
	case least < leastRuns:
		doubt("too few runs: %d of A and %d of B can be used, a confidence of %g %% takes %d each", goodA, goodB, confidence*100, leastRuns)
	case !slices.ContainsFunc(c.Metrics, func(m Metric) bool { return !m.Control && !m.evidence && m.Judgement != NotJudged }):
		doubt("no metric can be judged: too few pairs are whole")
	}
	if !c.Interleaved && goodA > 0 && goodB > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("the runs did not take turns: differences under %g %% are ties", tieBound))
	}
	for _, m := range c.Metrics {
		if m.drifted {
			doubt("the control differs too: %s %s: the machine changed, not the proxy", m.Title, changeText(m.Change))
		}
	}
	if len(c.Reasons) > 0 {
		c.Verdict = Inconclusive
		return
	}
	c.Verdict = Pass
	for _, m := range c.Metrics {
		if m.Gate {
			c.Verdict = Fail
			c.Reasons = append(c.Reasons, fmt.Sprintf("%s is worse by more than %g %%: %s", m.Title, c.WorseByPercent, changeText(m.Change)))
		}
	}
}

// pairs counts those with a result on both sides.
func pairs(a, b []Measured) int {
	n := 0
	for _, m := range a {
		if m.Result != nil && slices.ContainsFunc(b, func(o Measured) bool { return o.Pair == m.Pair && o.Result != nil }) {
			n++
		}
	}
	return n
}

// ExitCode is the exit code that a comparison ends with.
func (c Comparison) ExitCode() int {
	switch {
	case c.Interrupted:
		return exitcode.Interrupted
	case c.Verdict == Pass:
		return exitcode.Pass
	case c.Verdict == Fail:
		return exitcode.Fail
	}
	return exitcode.Inconclusive
}
