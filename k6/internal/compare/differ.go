// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"math"
	"slices"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/seq"
)

func (m Metric) higher() bool { return m.Better == direction(true) }
func (m Metric) shares() bool { return m.Unit == "share" }

// slopes reports whether the metric is a growth for each unit of work. A growth may be 0 or negative, so that no ratio of two
// says anything: their difference counts.
func (m Metric) slopes() bool { return m.Unit == bytesEach || m.Unit == countEach }

// bound converts percent to the scale of the metric's shift.
func (m Metric) bound(percent float64) float64 {
	switch {
	case m.shares():
		return percent * sharePoints
	case m.slopes():
		return 0
	}
	return math.Log1p(percent / 100)
}

// sample is how much worse a value of B is than a value of A.
func (m Metric) sample(a, b float64) float64 {
	switch {
	case m.shares():
		return difference.Points(a, b, m.higher())
	case m.slopes():
		return difference.Points(a, b, m.higher()) / 100
	}
	return difference.LogRatio(a, b, m.higher())
}

// change converts a shift to the reported change from A to B. If higher is better, the change falls as the shift grows.
func (m Metric) change(shift float64) float64 {
	if m.higher() {
		shift = -shift
	}
	return m.worse(shift)
}

// worse converts a shift to the scale of the gate: percent, or points.
func (m Metric) worse(shift float64) float64 {
	if m.shares() || m.slopes() {
		return shift
	}
	return math.Expm1(shift) * 100
}

func (m Metric) changeUnit() string {
	switch {
	case m.shares():
		return "points"
	case m.slopes():
		return m.Unit
	}
	return "percent"
}

func (c *Comparison) compare(q Request, a, b []Measured) {
	have := map[key]bool{}
	valuesA, valuesB := tabulate(a), tabulate(b)
	others := c.leftOut(q)
	noteNoLoss(slices.Concat(valuesA, valuesB, others.tables()))
	both := append(slices.Clone(a), b...)
	var all []row
	for _, run := range slices.Concat(valuesA, valuesB) {
		for _, row := range run.rows {
			if !have[row.key()] {
				have[row.key()] = true
				all = append(all, row)
			}
		}
	}
	cpu := c.kindOfCPU(a, b)
	all = slices.DeleteFunc(all, func(r row) bool { return r.Name == wholeCPU && cpu != wholeCPU })
	all = markPrimary(all, cpu, valuesA, valuesB, others.tables())
	for i := range all {
		hideByLateness(&all[i], both)
		if q.SecondaryOff && all[i].Role == Secondary {
			all[i].Role = Shown
		}
		if c.kept && isNewer(all[i], valuesA) {
			all[i].Role = Shown
		}
		if all[i].Name == measuredCPU && cpu == wholeCPU {
			all[i].Role, all[i].Title = Shown, all[i].Title+" in measured parts"
		}
	}
	for _, row := range all {
		c.findMissingValues(row, a, b, valuesA, valuesB)
		c.unknownFigure(row, valuesA, valuesB)
		if filled, ok := c.metric(row, valuesA, valuesB, others); ok {
			c.Metrics = append(c.Metrics, filled)
		}
	}
	c.tellGaps()
	c.findMissingPrimary(all, both)
	c.moreWorkTakesMoreMemory(valuesA, valuesB)
	// Primary metrics first, metrics of the whole run last, even if an operation exists only in B's runs.
	slices.SortStableFunc(c.Metrics, func(x, y Metric) int { return place(x) - place(y) })
}

// kindOfCPU returns the CPU time to the end of the quiet period if any run has it. Stored runs of an earlier version may
// have only the other kind; a run that they judge uses the same kind.
func (c *Comparison) kindOfCPU(a, b []Measured) string {
	runs := append(slices.Clone(a), b...)
	if c.kept {
		runs = a
	}
	if slices.ContainsFunc(runs, func(m Measured) bool { return m.Result.CPU != nil }) {
		return wholeCPU
	}
	return measuredCPU
}

// isNewer reports whether kept runs are older than the recording of what a system holds.
func isNewer(r row, kept []table) bool {
	newer := r.evidence && r.Role == Secondary || slices.Contains([]string{peakDescriptors, leftDescriptors, leftMemory}, r.Name)
	return newer && len(valuesOf(kept, r.key())) == 0
}

func place(m Metric) int {
	switch {
	case m.Role == Primary:
		return 0
	case m.Operation == "":
		return 2
	}
	return 1
}

// metric compares a row; it returns false if a side has no value.
func (c *Comparison) metric(r row, a, b []table, others leftOut) (Metric, bool) {
	m := r.Metric
	valuesA, valuesB := valuesOf(a, r.key()), valuesOf(b, r.key())
	if len(valuesA) == 0 && len(valuesB) == 0 {
		return m, false
	}
	m.Judgement = NotJudged
	if len(valuesA) == 0 || len(valuesB) == 0 {
		have := "A"
		if len(valuesA) == 0 {
			have = "B"
		}
		// A judged figure of a section is named as missing.
		if !r.quiet && (!r.evidence || r.Role == Shown) {
			c.ofOneSide.add(have, m.Title)
		}
		return m, false
	}
	m.A, m.B = Summary{valuesA, difference.Median(valuesA)}, Summary{valuesB, difference.Median(valuesB)}
	c.takeShifts(&m, r.key(), a, b, others)
	for _, part := range []struct {
		name      string
		has, runs int
	}{{"A", len(valuesA), len(a)}, {"B", len(valuesB), len(b)}} {
		if part.has < part.runs {
			m.Notes = append(m.Notes, fmt.Sprintf("%d of %d runs of %s have a value", part.has, part.runs, part.name))
		}
	}
	return m, true
}

// takeShifts fills a metric's shifts. Runs in turns give one sample for each pair in which both runs have a value.
// Without turns, all runs of A are compared with all runs of B, and the interval is wider by the possible drift of a
// machine.
func (c *Comparison) takeShifts(m *Metric, k key, a, b []table, others leftOut) {
	switch {
	case c.kept:
		m.shift = difference.Predicted(logs(*m, valuesOf(a, k)), logs(*m, valuesOf(b, k))[0], m.bound(tieBound))
	case !c.Interleaved:
		m.shift = difference.Unpaired(logs(*m, valuesOf(a, k)), logs(*m, valuesOf(b, k)), m.bound(tieBound))
		if len(others.unpairedA)+len(others.unpairedB) > 0 {
			m.cautious = difference.Unpaired(logs(*m, valuesOf(append(slices.Clone(a), others.unpairedA...), k)),
				append(logs(*m, valuesOf(append(slices.Clone(b), others.unpairedB...), k)), others.withoutValue(*m, k)...), m.bound(tieBound))
		}
	default:
		var samples []float64
		for _, one := range a {
			for _, other := range b {
				if v, ok := m.sampleOf(k, &one, &other); one.pair == other.pair && ok {
					samples = append(samples, v)
				}
			}
		}
		m.shift = difference.Paired(samples)
		if failed, doubtful := others.samples(*m, k); len(failed)+len(doubtful) > 0 {
			m.gate = difference.Paired(slices.Concat(samples, failed))
			m.cautious = difference.Paired(slices.Concat(samples, failed, doubtful))
		}
	}
}

// sampleOf is how much worse B is in a pair of runs; it returns false if a run has no value.
func (m Metric) sampleOf(k key, a, b *table) (float64, bool) {
	if a == nil || b == nil {
		return 0, false
	}
	x, inA := a.values[k]
	y, inB := b.values[k]
	if !inA || !inB {
		return 0, false
	}
	return m.sample(x, y), true
}

// logs are log ratios of the values to 1, so that their differences are shifts.
func logs(m Metric, values []float64) []float64 {
	return seq.Map(values, func(v float64) float64 { return m.sample(1, v) })
}

func valuesOf(runs []table, k key) []float64 {
	having := seq.Filter(runs, func(t table) bool { _, has := t.values[k]; return has })
	return seq.Map(having, func(t table) float64 { return t.values[k] })
}

// growing are metrics that may grow with the work, such as memory for each stored message, or a socket for each association.
var growing = []string{peakMemory, peakDescriptors, leftDescriptors, leftMemory}

// moreWorkTakesMoreMemory raises the bound of what may grow with the work by the share of operations that B completed more
// than A: it grows at most in proportion.
func (c *Comparison) moreWorkTakesMoreMemory(a, b []table) {
	done := func(runs []table) float64 {
		return difference.Median(seq.Map(runs, func(t table) float64 { return t.done }))
	}
	if done(a) <= 0 || done(b) <= done(a) {
		return
	}
	more := done(b)/done(a) - 1
	for i := range c.Metrics {
		if m := &c.Metrics[i]; slices.Contains(growing, m.Name) && m.Role == Secondary {
			m.allowance = math.Log1p(more)
			if more > 0.01 {
				m.Notes = append(m.Notes, fmt.Sprintf("B did %.1f %% more operations: the bound of this metric is higher by the same share", 100*more))
			}
		}
	}
}

// answer judges all metrics and failures together.
func (c *Comparison) answer(look difference.Look) difference.Outcome {
	var asked []difference.Metric
	var of []*Metric
	for i := range c.Metrics {
		if m := &c.Metrics[i]; m.shift.N > 0 {
			role := map[string]difference.Role{Primary: difference.Primary, Secondary: difference.Secondary}[m.Role]
			asked = append(asked, difference.Metric{Shift: m.shift, Gate: m.gate, Cautious: m.cautious, Bound: m.bound(c.WorseByPercent) + m.allowance, Role: role})
			of = append(of, m)
		}
	}
	failures := c.failureLevels()
	answers, breaks := difference.Judge(asked, failures, look)
	tests := seq.Count(asked, func(m difference.Metric) bool { return m.Role == difference.Primary })
	for i, a := range answers {
		of[i].take(a, c.Interleaved)
		if a.Outcome == difference.Unclear && of[i].Role == Primary && c.Interleaved {
			if all := difference.PairsToDecide(asked[i], a, look, tests); all > difference.MostPairs {
				of[i].MorePairs = new(-1)
			} else if all > 0 {
				of[i].MorePairs = new(all - of[i].shift.N)
			}
		}
	}
	c.markDrift()
	c.takeFailures(breaks)
	c.findMute(asked, look)
	return difference.Overall(asked, answers, breaks)
}

// markDrift marks the controls that differ like a system might: by more than a tie, and significantly after a correction
// for their number.
func (c *Comparison) markDrift() {
	var controls []*Metric
	for i := range c.Metrics {
		// High percentiles are too noisy to show a change of the machine.
		if m := &c.Metrics[i]; m.Control && m.P != nil && slices.Contains([]string{"mbit_per_s", "rate_per_s", "avg", "p50"}, m.Name) {
			controls = append(controls, m)
		}
	}
	for _, m := range controls {
		m.drifted = m.differs && *m.P*float64(len(controls)) < difference.Chance && math.Abs(m.shift.Estimate()) > m.bound(tieBound)
	}
}

// take writes an answer into its row.
func (m *Metric) take(a difference.Answer, paired bool) {
	m.Change = &Change{Unit: m.changeUnit(), Paired: paired, Pairs: m.shift.N, Estimate: m.change(a.Estimate)}
	m.P = new(a.P)
	if a.Lo == nil {
		return // too few runs for an interval
	}
	lo, hi := m.change(*a.Lo), m.change(*a.Hi)
	m.Change.Lo, m.Change.Hi = new(min(lo, hi)), new(max(lo, hi))
	m.WorseAtMost, m.differs = new(max(0, m.worse(*a.Hi))), a.Significant
	if m.Control {
		return
	}
	switch {
	case !m.differs:
		m.Judgement = NoneFound
	case a.Estimate < 0:
		m.Judgement = Better
	default:
		m.Judgement = Worse
	}
	if m.Role != Shown {
		m.Outcome, m.Gate = string(a.Outcome), a.Outcome == difference.Beyond
	}
}
