// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

var turnsMost = variables.Most("TURNS")

// The judgements of a target.
const (
	met       = "met"
	missed    = "missed"
	uncertain = "uncertain"
	// bound means that the generator, or a configured rate, may limit the figure.
	bound = "bound"
)

var targets = []string{"throughput", "latency", "memory", "first reply"}

// ofProtocols is the verdict of a run of protocol rows. A row that did not run, or that missed a target with confidence,
// is a failure, whatever the rest of the run was. The outcome of a row includes its errors. Errors are no failure if
// other programs on the CPUs were active and may have caused them. A row that a link has spoilt is no failure either:
// the link's check reports it.
func ofProtocols(protocols Protocols, link *Link, j Judged, verdict string) opinion {
	rows := protocols.Rows
	busy := isDisturbed(j.Validity)
	var broken, excused, misses, bounded, undecided, unseen []reason
	for _, row := range rows {
		if link.spoilt(row.Row) {
			continue
		}
		excuses := busy || isUnsettled(j.Repeated, row.Row)
		own, others := ended(row.Row, "baseline", &row.Baseline), ended(row.Row, "candidate", row.Candidate)
		if isUnfit(row) {
			unseen, own = append(unseen, own...), nil
		}
		for _, r := range slices.Concat(own, others) {
			if r.busy = r.busy && excuses; r.busy {
				excused = append(excused, r)
			} else {
				broken = append(broken, r)
			}
		}
		if isUnfit(row) {
			continue
		}
		unseen = append(unseen, uncheckedOf(row)...)
		if link == nil || link.Calibration.OK {
			misses = append(misses, missesOf(row, excuses)...)
		}
		bounded = append(bounded, boundOf(row)...)
		if protocols.Compared {
			undecided = append(undecided, unjudged(row)...)
		}
	}
	undecided = append(undecided, seq.Map(undecidedLines(rows), undecidedLine.reason)...)
	crossed := crossedReasons(j.Thresholds)
	reasons := slices.Concat(broken, misses, excused, crossed, invalidReasons(j.Validity), nothing(rows, protocols.Compared), unseen, bounded, undecided)
	failed := len(broken) > 0 || len(misses) > 0 || verdict == result.Fail && len(crossed) > 0
	return programsEnded(j.Validity, failed, reasons)
}

// fine reports whether a side was measured without an error, is impossible here, or has errors that a known fault
// excuses.
func fine(side *ProtocolSide) bool {
	return side.Outcome == ranWell || side.Outcome == impossibleHere || side.Known != nil
}

// isUnfit reports whether a candidate cannot be compared because the traffic of the baseline's hop does not match the
// row.
func isUnfit(row ProtocolRow) bool { return row.Candidate != nil && row.Baseline.Outcome == wrongWire }

// uncheckedOf names the sides of a compared row whose hop was not checked: such a row meets no target.
func uncheckedOf(row ProtocolRow) (reasons []reason) {
	if row.Candidate == nil {
		return nil
	}
	for _, side := range []struct {
		name string
		of   *ProtocolSide
	}{{"baseline", &row.Baseline}, {"candidate", row.Candidate}} {
		if side.of.Unchecked != nil && side.of.Outcome == ranWell {
			reasons = append(reasons, reason{kind: "row", name: "hop not checked", text: fmt.Sprintf(
				"%s: %s: the hop was not checked: %s", row.Row, side.name, *side.of.Unchecked)})
		}
	}
	return reasons
}

// ended describes the outcome of a row's side that is not fine.
func ended(row, name string, side *ProtocolSide) []reason {
	if side == nil || fine(side) {
		return nil
	}
	text := fmt.Sprintf("%s: %s: %s", row, name, withDetail(side.Outcome, side.Detail))
	return []reason{{kind: "row", name: side.Outcome, text: text, busy: side.mayBeBusy()}}
}

// missesOf are the targets that a row missed. excuses says that other programs used the CPUs. A candidate whose errors
// they may have caused does not miss a target by lacking a figure.
func missesOf(row ProtocolRow, excuses bool) (reasons []reason) {
	lacks := excuses && row.Candidate != nil && row.Candidate.mayBeBusy()
	for _, line := range row.Comparison {
		if line.Judged != missed || lacks && line.Lacks != nil {
			continue
		}
		text := fmt.Sprintf("%s: %s is %s of the baseline (%s to %s), and %s is the target",
			row.Row, line.Target, times(line.Ratio), times(line.Low), times(line.High), times(&line.Bound))
		if line.Ratio == nil {
			text = fmt.Sprintf("%s: %s: the operations of the candidate failed, and those of the baseline did not", row.Row, line.Target)
		}
		reasons = append(reasons, reason{kind: "target", name: line.Target, text: text})
	}
	if trips := row.RoundTrips; trips != nil && trips.OK != nil && !*trips.OK && trips.Candidate != nil && trips.Baseline != nil {
		reasons = append(reasons, reason{kind: "target", name: "round trips", text: fmt.Sprintf(
			"%s: over the hop a tunnel takes %d round trips to open, answer and close; the baseline's takes %d",
			row.Row, *trips.Candidate, *trips.Baseline)})
	}
	return reasons
}

// unjudged are the targets without a judgement, although both sides have the row.
func unjudged(row ProtocolRow) (reasons []reason) {
	lacks := func(target, text string) {
		reasons = append(reasons, reason{kind: "empty", name: target, text: fmt.Sprintf("%s: %s: %s", row.Row, target, text)})
	}
	if trips := row.RoundTrips; trips != nil && (trips.OK == nil || trips.Baseline == nil || trips.Candidate == nil) {
		side := "candidate"
		if trips.Baseline == nil {
			side = "baseline"
		}
		lacks("round trips", "not counted of the "+side)
	}
	if row.Candidate == nil {
		lacks("comparison", "the candidate was not measured")
		return reasons
	}
	lacked := row.Baseline.Outcome == impossibleHere || row.Candidate.Outcome == impossibleHere && len(row.Comparison) == 0
	if lacked || !fine(&row.Baseline) || !fine(row.Candidate) {
		return reasons
	}
	for _, target := range targets {
		line, compared := seq.Find(row.Comparison, func(line ProtocolComparison) bool { return line.Target == target })
		switch {
		case !compared:
			lacks(target, "not compared")
		case !line.isJudged():
			lacks(target, "the comparison has no ratio")
		}
	}
	return reasons
}

// isJudged reports whether a target has a judgement. A target that is met must also have a ratio, and a figure in each
// turn.
func (c ProtocolComparison) isJudged() bool {
	switch c.Judged {
	case missed, uncertain:
		return true
	case met, bound:
		return c.Ratio != nil && *c.Ratio > 0 && c.Lacks == nil && c.Pairs > 0
	}
	return false
}

func boundOf(row ProtocolRow) (reasons []reason) {
	cpu := dearest(row.Comparison)
	for _, line := range row.Comparison {
		if line.Judged == bound {
			reasons = append(reasons, reason{kind: "noise", name: line.Target + " bound", text: fmt.Sprintf(
				"%s: %s: the generator or a configured rate limits the baseline. The candidate uses %s of the baseline's CPU time, so it may be slower than the figures show",
				row.Row, line.Target, times(cpu))})
		}
	}
	return reasons
}

// dearest is the largest ratio of CPU time: for each GiB, or for whole turns with their quiet periods. It is nil without
// such a ratio.
func dearest(lines []ProtocolComparison) (most *float64) {
	for _, line := range lines {
		isCPU := line.Target == "CPU" || line.Target == "turn CPU"
		if isCPU && line.Ratio != nil && (most == nil || *line.Ratio > *most) {
			most = line.Ratio
		}
	}
	return most
}

// undecidedLine is a target that more turns would decide.
type undecidedLine struct {
	row int
	of  string
	ProtocolComparison
}

// undecidedLines lists the undecided targets, the one with the most turns needed first. It skips rows that did not run,
// because more turns would not decide them.
func undecidedLines(rows []ProtocolRow) (lines []undecidedLine) {
	for i, row := range rows {
		if !fine(&row.Baseline) || row.Candidate != nil && !fine(row.Candidate) {
			continue
		}
		for _, line := range row.Comparison {
			if line.Judged == uncertain {
				lines = append(lines, undecidedLine{i, row.Row, line})
			}
		}
	}
	toDecide := func(l undecidedLine) int {
		if l.ToDecide == nil {
			return math.MaxInt
		}
		return *l.ToDecide
	}
	slices.SortStableFunc(lines, func(a, b undecidedLine) int { return cmp.Compare(toDecide(b), toDecide(a)) })
	return lines
}

// Undecided are the indexes of the rows that more turns would decide, the one with the fewest turns needed first. A row
// with a missing figure stays undecided, whatever later turns measure.
func Undecided(rows []ProtocolRow) []int {
	places := []int{}
	for _, line := range undecidedLines(rows) {
		if line.Lacks == nil && !slices.Contains(places, line.row) {
			places = append(places, line.row)
		}
	}
	slices.Reverse(places)
	return places
}

func (l undecidedLine) reason() reason {
	if l.Lacks != nil {
		return reason{kind: "empty", name: l.Target, text: fmt.Sprintf("%s: %s: %s", l.of, l.Target, *l.Lacks)}
	}
	return reason{kind: "noise", name: l.Target, text: l.text()}
}

func (l undecidedLine) text() string {
	found := ""
	if l.Low != nil {
		found = fmt.Sprintf(" (%s of the baseline, %s to %s)", times(l.Ratio), times(l.Low), times(l.High))
	}
	advice := "more turns would not help: use a quieter machine"
	if l.ToDecide != nil && *l.ToDecide <= turnsMost {
		advice = fmt.Sprintf("about %d turns would decide: TURNS=%d", *l.ToDecide, *l.ToDecide)
	}
	return fmt.Sprintf("%s: %s: undecided after %d turns%s; %s", l.of, l.Target, l.Pairs, found, advice)
}

// manyTimes is the ratio from which on the text uses a factor instead of percent.
const manyTimes = 10

func times(value *float64) string {
	switch {
	case value == nil:
		return "0 %"
	case *value >= manyTimes:
		return fmt.Sprintf("%.0f times", *value)
	}
	return fmt.Sprintf("%.0f %%", 100**value)
}

// essential are the figures without which a row cannot pass.
var essential = []string{"rtt_ms", "mbit_64k", "goodput_down_mbit"}

// nothing is the reason of a run without anything to judge; a run passes by what it measured.
func nothing(rows []ProtocolRow, compared bool) []reason {
	some := slices.ContainsFunc(rows, func(row ProtocolRow) bool {
		return slices.ContainsFunc(essential, func(figure string) bool { return row.Baseline.Figures[figure] != nil })
	})
	if !some {
		return []reason{because("empty", "no row was measured")}
	}
	judged := slices.ContainsFunc(rows, func(row ProtocolRow) bool {
		return slices.ContainsFunc(row.Comparison, func(line ProtocolComparison) bool { return line.Ratio != nil })
	})
	if compared && !judged {
		return []reason{because("empty", "no row was compared")}
	}
	return nil
}
