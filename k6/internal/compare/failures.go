// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// The ways in which a side fails in a run.
const (
	notStarted = "did not start"
	notSetUp   = "failed its set-up"
	noResult   = "has no result"
	ended      = "a process of it ended"
	silent     = "answered nothing any more"
	cut        = "was cut"
	corrupted  = "failed its integrity check"
)

// moreRuns that fail on B than on A break the gate; one more is no pass.
const moreRuns = 2

// ofSide are the validity checks that speak of the side, and what they say; all others are of the machine or of us.
var ofSide = map[string]string{"processes": ended, "target": silent, "complete": cut, "rounds": cut, "probes": cut}

// failed says in what way a run's side failed in it, "" where it did not: the first of these ways.
func failed(m Measured) string {
	switch {
	case m.Outcome == run.LeftOut || m.Outcome == run.Interrupted || m.Cause == run.OfBench:
		return ""
	case m.Cause == run.OfTestbed:
		return notStarted
	case m.Cause == run.OfSetUp:
		return notSetUp
	case m.Result == nil:
		return noResult
	}
	how, busy := "", false
	for _, check := range m.Result.Validity {
		if check.OK == nil || *check.OK {
			continue
		}
		busy = busy || check.Check == "neighbours" || strings.HasPrefix(check.Check, "generator")
		if kind := ofSide[check.Check]; kind != "" && how != ended && how != silent {
			how = kind
		}
	}
	// What a busy machine cut is no fault of the side; that it ended or fell silent is.
	if how == ended || how == silent || how != "" && !busy {
		return how
	}
	if slices.ContainsFunc(m.Result.Integrity, func(i result.Integrity) bool { return i.OK != nil && !*i.OK }) {
		return corrupted
	}
	return ""
}

// disturbed reports whether a run says nothing of its side, as the machine or the measurement itself was at fault.
func disturbed(m Measured) bool { return failed(m) == "" && Unusable(m) != "" }

// countFailedRuns adds to c.Failures the runs, by what failed in them.
func (c *Comparison) countFailedRuns(a, b []Measured) {
	kinds := map[string]bool{}
	for _, m := range append(slices.Clone(a), b...) {
		if how := failed(m); how != "" {
			kinds[how] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		f := Failure{Kind: kind, Of: "runs", A: failedRuns(a, kind), B: failedRuns(b, kind)}
		f.Outcome = string(runsOutcome(f.A.Failed, f.B.Failed))
		c.Failures = append(c.Failures, f)
	}
}

// countErrors adds to c.Failures the operations that failed, by kind of error.
func (c *Comparison) countErrors(goodA, goodB []Measured) {
	errors := map[string]bool{}
	for _, m := range append(slices.Clone(goodA), goodB...) {
		for _, op := range m.Result.Judged() {
			for kind, n := range op.Errors {
				// Lost datagrams are a metric with a bound.
				if n > 0 && !(kind == "lost" && op.IsDatagrams()) {
					errors[kind] = true
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(errors)) {
		f := Failure{Kind: kind, Of: "operations", A: errorsOf(goodA, kind), B: errorsOf(goodB, kind), Outcome: string(difference.Within)}
		f.P = new(c.moreErrors(goodA, goodB, kind))
		c.Failures = append(c.Failures, f)
	}
}

// runsBreak reports whether the runs that failed are enough to break the gate.
func runsBreak(a, b []Measured) bool {
	c := Comparison{}
	c.countFailedRuns(a, b)
	return c.failing() == difference.Beyond
}

func failedRuns(runs []Measured, kind string) Tally {
	t := Tally{Of: int64(len(runs))}
	for _, m := range runs {
		if failed(m) == kind {
			t.Failed++
		}
	}
	return t
}

func runsOutcome(a, b int64) difference.Outcome {
	switch {
	case b-a >= moreRuns:
		return difference.Beyond
	case b > a:
		return difference.Unclear
	}
	return difference.Within
}

func errorsOf(runs []Measured, kind string) Tally {
	var t Tally
	for _, m := range runs {
		for _, op := range m.Result.Judged() {
			t.Failed += op.Errors[kind]
			t.Of += op.Requests
		}
	}
	return t
}

func (t Tally) share() float64 { return float64(t.Failed) / float64(max(1, t.Of)) }

// moreErrors is the p-value of B having more errors of a kind: by the pairs, or where the runs did not take turns by all.
func (c *Comparison) moreErrors(a, b []Measured, kind string) float64 {
	if !c.Interleaved {
		shares := func(runs []Measured) []float64 {
			var all []float64
			for _, m := range runs {
				all = append(all, errorsOf([]Measured{m}, kind).share())
			}
			return all
		}
		return difference.Unpaired(shares(a), shares(b), 0).AtLeast(0)
	}
	var differences []float64
	for _, one := range a {
		for _, other := range b {
			if one.Pair == other.Pair {
				differences = append(differences, errorsOf([]Measured{other}, kind).share()-errorsOf([]Measured{one}, kind).share())
			}
		}
	}
	return difference.MoreFailures(differences)
}

// failureLevels are the p-values of kinds of errors, in the order of c.Failures.
func (c *Comparison) failureLevels() []float64 {
	var all []float64
	for _, f := range c.Failures {
		if f.P != nil {
			all = append(all, *f.P)
		}
	}
	return all
}

// takeFailures writes what came of failureLevels. What B has more of is no pass, unless A has it too and chance tells as much
// at 5 %.
func (c *Comparison) takeFailures(breaks []bool) {
	i := 0
	for n := range c.Failures {
		f := &c.Failures[n]
		if f.P == nil {
			continue
		}
		more := f.B.share() > f.A.share()
		switch {
		case breaks[i] && more:
			f.Outcome = string(difference.Beyond)
		case more && (f.A.Failed == 0 || *f.P < difference.Chance):
			f.Outcome = string(difference.Unclear)
		}
		i++
	}
}

// failing is the worst outcome of the failures.
func (c *Comparison) failing() difference.Outcome {
	worst := difference.Within
	for _, f := range c.Failures {
		switch f.Outcome {
		case string(difference.Beyond):
			return difference.Beyond
		case string(difference.Unclear):
			worst = difference.Unclear
		}
	}
	return worst
}
