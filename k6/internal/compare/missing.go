// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// A comparison may pass only if all judged parts were measured on both sides. This file finds the missing parts.

// steadyChecks are validity checks that either all or no runs of a comparison have, because machine and scenario are the
// same.
var steadyChecks = []string{"complete", "processes", "generator CPU", "neighbours"}

// findMissing finds missing runs, checks and integrity, and impossible figures.
func (c *Comparison) findMissing(q Request) {
	if c.Interleaved && !q.Interrupted {
		c.findMissingRuns(q)
	}
	have := partsOfRuns{checks: map[string]bool{}, integrity: map[string]bool{}, operations: map[string]bool{}}
	all := append(counted(q.A), counted(q.B)...)
	for _, m := range all {
		have.add(m)
	}
	if q.Kept && !slices.ContainsFunc(q.A, func(m Measured) bool { return m.Result != nil && m.Result.Held != nil }) {
		delete(have.integrity, result.LeftOpen) // the kept runs are older than the check
	}
	found := map[string][]string{}
	for _, m := range all {
		for _, what := range have.missing(m) {
			found[what] = append(found[what], m.File)
		}
	}
	for _, m := range q.B {
		if how, _ := failing(m); m.Result == nil && how == "" && m.Outcome != run.LeftOut && m.Outcome != run.Interrupted {
			found["no result, so it is unknown whether B failed"] = append(found["no result, so it is unknown whether B failed"], m.File)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		c.missing = append(c.missing, files(found[what])+": "+what)
	}
}

// partsOfRuns names the parts that any run of a comparison has: steady checks, integrity with a known answer, and
// operations.
type partsOfRuns struct{ checks, integrity, operations map[string]bool }

func (p partsOfRuns) add(m Measured) {
	r := *m.Result
	for _, check := range r.Validity {
		if Unusable(m) == "" && check.OK != nil && slices.Contains(steadyChecks, check.Check) {
			p.checks[check.Check] = true
		}
	}
	for _, i := range r.Integrity {
		p.integrity[i.Check] = p.integrity[i.Check] || i.OK != nil
	}
	for _, op := range r.Operations {
		p.operations[op.Name] = true
	}
}

func (c *Comparison) findMissingRuns(q Request) {
	for i, runs := range [][]Measured{q.A, q.B} {
		var pairs []string
		for pair := 1; pair <= max(lastPair(q), q.Planned); pair++ {
			if ofPair(runs, pair) == nil {
				pairs = append(pairs, fmt.Sprint(pair))
			}
		}
		if len(pairs) > 0 {
			c.missing = append(c.missing, fmt.Sprintf("there is no run of %s in %s %s", []string{"A", "B"}[i], format.Noun(len(pairs), "pair"), strings.Join(pairs, ", ")))
		}
	}
}

// missing returns the parts that a run lacks, and its impossible figure. A run that its side broke off counts as failed,
// so it lacks nothing.
func (p partsOfRuns) missing(m Measured) []string {
	if failed(m) != "" && Unusable(m) != "" {
		return nil
	}
	var all []string
	r := *m.Result
	if Unusable(m) == "" {
		all = p.missingChecks(r)
	}
	for _, name := range slices.Sorted(maps.Keys(p.integrity)) {
		if p.integrity[name] && !slices.ContainsFunc(r.Integrity, func(i result.Integrity) bool { return i.Check == name && i.OK != nil }) {
			all = append(all, "the integrity of "+name+" was not checked, but other runs have this check")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.operations)) {
		if _, there := r.Find(name); !there {
			all = append(all, "the operation "+name+" is missing, but other runs have it")
		}
	}
	if Unusable(m) != "" {
		return all // the figures of this run are not used
	}
	if why := impossible(r); why != "" {
		all = append(all, "an impossible figure: "+why)
	}
	return all
}

// missingChecks returns the steady checks that a run lacks. A run that is left out has a check with the reason.
func (p partsOfRuns) missingChecks(r result.Result) []string {
	known := func(name string) bool {
		return slices.ContainsFunc(r.Validity, func(v result.Validity) bool { return v.OK != nil && (name == "" || v.Check == name) })
	}
	if !known("") {
		return []string{"no validity check ran, so its figures cannot be trusted"}
	}
	missing := seq.Filter(slices.Sorted(maps.Keys(p.checks)), func(name string) bool { return !known(name) })
	return seq.Map(missing, func(name string) string { return "the check of " + name + " is missing, but other runs have it" })
}

// findMissingValues finds used runs without a judged metric that other runs have.
func (c *Comparison) findMissingValues(r row, a, b []Measured, valuesA, valuesB []table) {
	if r.Role == Shown || r.Control {
		return
	}
	var without []string
	counts := [2]int{}
	for i, side := range []struct {
		runs   []Measured
		values []table
	}{{a, valuesA}, {b, valuesB}} {
		for n, t := range side.values {
			switch _, has := t.values[r.key()]; {
			case has:
				counts[i]++
			case !askedNothing(*side.runs[n].Result, r.Operation):
				without = append(without, side.runs[n].File)
			}
		}
	}
	if counts[0]+counts[1] == 0 || len(without) == 0 {
		return
	}
	where := files(without) + tooFewFor(r, a, b)
	if r.evidence {
		c.gaps.add(where, r.Title)
	} else {
		c.missing = append(c.missing, r.Title+" was not measured in "+where)
	}
	if counts[0] == len(a) && counts[1] == 0 && neverSucceeded(b, r.Operation) {
		c.lost = append(c.lost, fmt.Sprintf("B has no %s because no operation succeeded; all runs of A have this metric", r.Title))
	}
}

// gaps are figures of sections without a value, by the runs that lack them: a section may have hundreds.
type gaps []gap

type gap struct {
	where string
	of    []string
}

func (g *gaps) add(where, title string) {
	i := slices.IndexFunc(*g, func(one gap) bool { return one.where == where })
	if i < 0 {
		i, *g = len(*g), append(*g, gap{where: where})
	}
	(*g)[i].of = append((*g)[i].of, title)
}

// unknownFigure notes a figure that a section wants judged and that no run has, unless the section says why.
func (c *Comparison) unknownFigure(r row, a, b []table) {
	if r.evidence && r.Role != Shown && !r.said && len(valuesOf(a, r.key()))+len(valuesOf(b, r.key())) == 0 {
		c.unknown.add(r.Role, r.Title)
	}
}

// tellGaps writes a line for each set of runs that lack figures of sections. A primary figure that no run has is missing. A
// secondary one may be of a row that could not run, so that it is only noted.
func (c *Comparison) tellGaps() {
	for _, g := range c.gaps {
		was := "was"
		if len(g.of) > 1 {
			was = "were"
		}
		c.missing = append(c.missing, fmt.Sprintf("%s %s not measured in %s", figures(g.of), was, g.where))
	}
	for _, g := range c.unknown {
		if g.where == Primary {
			c.missing = append(c.missing, "no run has a value of: "+figures(g.of))
		} else {
			c.Notes = append(c.Notes, "not judged, because no run has a value: "+figures(g.of))
		}
	}
	for _, g := range c.ofOneSide {
		c.Notes = append(c.Notes, fmt.Sprintf("only %s has: %s", g.where, figures(g.of)))
	}
}

// latenessHides reports whether the generator's lateness is more than half of a percentile of a run, so that the result
// hides the percentile (k6/internal/judge has the check).
func latenessHides(r result.Result, operation, percentile string) bool {
	return slices.ContainsFunc(r.Validity, func(v result.Validity) bool {
		return v.Check == "generator lateness: "+operation && strings.Contains(v.Detail, "not shown") && strings.Contains(v.Detail, strings.ToUpper(percentile))
	})
}

// hideByLateness only shows a secondary percentile if the generator's lateness hides it in any run: no number of pairs
// could judge it.
func hideByLateness(r *row, runs []Measured) {
	hidden := seq.Count(runs, func(m Measured) bool { return latenessHides(*m.Result, r.Operation, r.Name) })
	if r.Role != Secondary || r.Control || hidden == 0 {
		return
	}
	r.Role = Shown
	r.Notes = append(r.Notes, fmt.Sprintf("not judged: the generator was too late to measure this metric in %s", format.Plural(hidden, "run")))
}

// askedNothing reports whether a run never attempted an operation; by chance this happens to rare operations of a mix.
func askedNothing(r result.Result, operation string) bool {
	op, there := r.Find(operation)
	return there && op.Requests == 0 && op.Success == 0 && len(op.Errors) == 0 &&
		!slices.ContainsFunc(r.Validity, func(v result.Validity) bool {
			return v.Check == samplesCheck+operation && v.OK != nil && !*v.OK
		})
}

// neverSucceeded reports whether an operation (or with "" every operation) was attempted in each run and never
// succeeded.
func neverSucceeded(runs []Measured, operation string) bool {
	return !slices.ContainsFunc(runs, func(m Measured) bool {
		asked, succeeded := int64(0), int64(0)
		for _, op := range m.Result.Judged() {
			if operation == "" || op.Name == operation {
				asked, succeeded = asked+op.Requests, succeeded+op.Success
			}
		}
		return asked <= 0 || succeeded > 0
	})
}

// tooFewFor says, for a missing percentile, how many samples the run with the fewest samples has.
func tooFewFor(r row, a, b []Measured) string {
	if !strings.HasPrefix(r.Name, "p") || r.Unit != "ms" {
		return ""
	}
	least := int64(-1)
	for _, m := range append(slices.Clone(a), b...) {
		op, _ := m.Result.Find(r.Operation)
		if op.LatencyMS != nil && (least < 0 || op.LatencyMS.Count < least) {
			least = op.LatencyMS.Count
		}
	}
	if least < 0 {
		return ""
	}
	return fmt.Sprintf(" (the smallest run has %s samples; a larger TIMES makes more)", format.Count(least))
}

// findMissingPrimary reports a comparison without a metric of speed, or without CPU time of a system that the bench
// started. If the scenario has judged figures in place of both, it reports a comparison without these.
func (c *Comparison) findMissingPrimary(all []row, runs []Measured) {
	if slices.ContainsFunc(all, row.judged) {
		if !slices.ContainsFunc(c.Metrics, func(m Metric) bool { return m.Role == Primary }) {
			c.missing = append(c.missing, "no figure that the scenario wants judged has a value on both sides")
		}
		return
	}
	var speed, cpu bool
	for _, m := range c.Metrics {
		speed = speed || m.Role == Primary && m.isSpeed()
		cpu = cpu || m.Role == Primary && !m.isSpeed()
	}
	if !speed {
		c.missing = append(c.missing, "no primary speed metric can be judged: both sides need a throughput, a rate or latencies")
	}
	started := slices.ContainsFunc(runs, func(m Measured) bool { return m.Result.Run.Testbed != nil })
	if !cpu && started {
		c.missing = append(c.missing, "the CPU time per operation was not measured on both sides, though the system was started here")
	}
}

// findMute finds the judged metrics that cannot fail because there are too few pairs.
func (c *Comparison) findMute(asked []difference.Metric, look difference.Look) {
	tests, mute, pairs := map[difference.Role]int{}, map[difference.Role]int{}, 0
	for _, m := range asked {
		tests[m.Role]++
		pairs = max(pairs, m.Shift.N)
	}
	for _, i := range difference.Mute(asked, look) {
		mute[asked[i].Role]++
	}
	for _, role := range []struct {
		difference.Role
		word, more string
	}{{difference.Primary, Primary, ""}, {difference.Secondary, Secondary, "; SECONDARY=off judges the primary ones alone"}} {
		n := mute[role.Role]
		if n == 0 {
			continue
		}
		takes := ""
		if c.Interleaved {
			need := look.FewestToBreak(role.Role, tests[role.Role])
			takes = fmt.Sprintf(": at least %d pairs are needed%s", need, c.minutesFor(need))
		}
		c.mute = append(c.mute, fmt.Sprintf("%s are too few for %d %s %s to fail, however much worse B was%s%s", format.Plural(pairs, "pair"), n, role.word,
			format.Noun(n, "metric"), takes, role.more))
	}
}

// minutesFor estimates the time for a number of pairs from the pairs made so far.
func (c *Comparison) minutesFor(pairs int) string {
	made := min(len(c.A.Runs), len(c.B.Runs))
	if made == 0 || c.DurationS <= 0 {
		return ""
	}
	return fmt.Sprintf(", about %s in all", format.Seconds(c.DurationS/float64(made)*float64(pairs)))
}

// files names the first runs in one line, and counts the others.
func files(names []string) string { return firstOf(names, ", ", "run") }

// figures does the same for titles, which have commas.
func figures(titles []string) string { return firstOf(titles, "; ", "figure") }

func firstOf(names []string, between, noun string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, between)
	}
	return strings.Join(names[:most], between) + " and " + format.Plural(len(names)-most, "more "+noun)
}
