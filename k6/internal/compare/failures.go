// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"maps"
	"slices"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// moreRuns is how many more runs must fail on B than on A to break the gate. One more failed run prevents a pass. A run
// that is judged by kept runs breaks the gate alone.
const moreRuns = 2

// countFailedRuns adds the failed runs to c.Failures, by kind of failure. A failure that the disturbed machine may have
// caused does not break the gate, but prevents a pass.
func (c *Comparison) countFailedRuns(a, b []Measured) {
	ways := map[string]bool{}
	for _, m := range append(slices.Clone(a), b...) {
		if how, _ := failing(m); how != "" {
			ways[how] = true
		}
	}
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		allA, sureA := failedRuns(a, way)
		allB, sureB := failedRuns(b, way)
		f := Failure{Kind: way, Of: "runs", A: allA, B: allB, excused: allB.Failed - sureB}
		switch {
		case sureB-sureA >= moreRuns || c.kept && sureB > 0 && allA.Failed == 0:
			f.Outcome = string(difference.Beyond)
		case sureB > sureA || allB.Failed > allA.Failed:
			f.Outcome = string(difference.Unclear)
		default:
			f.Outcome = string(difference.Within)
		}
		c.Failures = append(c.Failures, f)
	}
}

// failedRuns counts the runs with a kind of failure; sure counts those without an excuse.
func failedRuns(runs []Measured, way string) (all Tally, sure int64) {
	all.Of = int64(len(runs))
	for _, m := range runs {
		how, excused := failing(m)
		if how != way {
			continue
		}
		all.Failed++
		if !excused {
			sure++
		}
	}
	return all, sure
}

// counted returns the runs whose operations count: all with a result that the bench did not break off.
func counted(runs []Measured) []Measured {
	return slices.DeleteFunc(slices.Clone(runs), func(m Measured) bool {
		return m.Result == nil || m.Outcome == run.LeftOut || m.Outcome == run.Interrupted || m.Cause == run.OfBench
	})
}

// countErrors adds the failed operations of all runs to c.Failures, by kind of error, even of runs whose figures are not
// used.
func (c *Comparison) countErrors(a, b []Measured) {
	a, b = counted(a), counted(b)
	found := map[string]bool{}
	for _, m := range append(slices.Clone(a), b...) {
		for _, op := range m.Result.Judged() {
			for kind, n := range op.Errors {
				if n > 0 && isCounted(op, kind) {
					found[kind] = true
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		f := Failure{Kind: kind, Of: "operations", A: errorsOf(a, kind), B: errorsOf(b, kind), Outcome: string(difference.Within)}
		sureA, sureB := telling(a, kind), telling(b, kind)
		f.P = new(c.moreErrors(sureA, sureB, kind))
		f.excused = f.B.Failed - errorsOf(sureB, kind).Failed
		c.Failures = append(c.Failures, f)
	}
}

// isCounted excludes two kinds: lost datagrams are a metric with a bound, and the generator's limits are no error of a
// side.
func isCounted(op result.Operation, kind string) bool {
	return !(kind == "lost" && op.IsDatagrams()) && !kinds.All[kind].OwnLimit
}

// telling returns the runs whose errors of a kind are evidence: all runs that the machine and the generator did not
// disturb. If a busy machine cannot cause the kind, disturbed runs are evidence too, unless a control of the run met the
// kind.
func telling(runs []Measured, kind string) []Measured {
	return slices.DeleteFunc(slices.Clone(runs), func(m Measured) bool {
		return spoilt(m) && (kinds.All[kind].BusyMachine || slices.Contains(controlErrors(m), kind))
	})
}

// runsBreak reports whether enough runs failed to break the gate.
func runsBreak(a, b []Measured) bool {
	c := Comparison{}
	c.countFailedRuns(a, b)
	return c.failing() == difference.Beyond
}

func errorsOf(runs []Measured, kind string) Tally {
	var t Tally
	for _, m := range runs {
		for _, op := range m.Result.Judged() {
			if isCounted(op, kind) {
				t.Failed += max(0, op.Errors[kind])
			}
			t.Of += max(0, op.Requests)
		}
	}
	return t
}

func (t Tally) share() float64 { return float64(t.Failed) / float64(max(1, t.Of)) }

// moreErrors is the p-value for more errors of a kind on B: from the pairs, or from all runs if they did not take turns.
func (c *Comparison) moreErrors(a, b []Measured, kind string) float64 {
	if !c.Interleaved {
		shares := func(runs []Measured) []float64 {
			return seq.Map(runs, func(m Measured) float64 { return errorsOf([]Measured{m}, kind).share() })
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

// failureLevels are the p-values of the kinds of errors, in the order of c.Failures.
func (c *Comparison) failureLevels() []float64 {
	tested := seq.Filter(c.Failures, func(f Failure) bool { return f.P != nil })
	return seq.Map(tested, func(f Failure) float64 { return *f.P })
}

// takeFailures writes the outcomes of failureLevels. If B has more errors of a kind, it cannot pass, unless A has them
// too and chance explains the difference at the 5 % level.
func (c *Comparison) takeFailures(breaks []bool) {
	i := 0
	for n := range c.Failures {
		f := &c.Failures[n]
		if f.P == nil {
			continue
		}
		more := f.B.share() > f.A.share()
		switch {
		case breaks[i]:
			f.Outcome = string(difference.Beyond)
		case more && (f.A.Failed == 0 || *f.P < difference.Chance):
			f.Outcome = string(difference.Unclear)
		}
		i++
	}
}

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
