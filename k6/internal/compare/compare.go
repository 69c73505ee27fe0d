// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
	"windtunnel/k6/internal/variables"
)

// Bounds are how a comparison is judged: by how many percent a metric may be worse, and whether only primary metrics are judged.
type Bounds struct {
	WorseBy      float64
	SecondaryOff bool
}

// BoundsOf reads the bounds from the values of variables that the registry has checked. worseBy is the bound that is not given.
func BoundsOf(given map[string]string, worseBy float64) Bounds {
	if text := given["WORSE_BY"]; text != "" {
		worseBy = variables.Number("WORSE_BY", text)
	}
	return Bounds{WorseBy: worseBy, SecondaryOff: given["SECONDARY"] == SecondaryOff}
}

// Request is what to compare and how to judge it.
type Request struct {
	ID           string
	Scenario     string // SYSTEM/NAME
	Folder       string // of its files, below the folder of a Set; "" for the only comparison
	A, B         []Measured
	SpecA, SpecB string
	// BuildA and BuildB are nil for a side that was not built. ContentsA and ContentsB are empty if unknown.
	BuildA, BuildB       *builds.Build
	ContentsA, ContentsB contents.Contents
	Planned              int // pairs; 0 if no number was planned, or if it ran until it knew
	Made                 int // pairs that were made, 0 if unknown: a missing pair is missing evidence
	Look                 difference.Look
	looked               int    // pairs at the last look
	lookText             string // result of the last look, for the reader
	Interrupted          bool
	Bounds
	Beds func(name string) testbed.Testbed
	// Kept says that A are kept runs, and that they judge the one run B.
	Kept bool
}

// Make compares runs that Refusal accepts.
func Make(q Request) Comparison {
	q.Look.Failures = true
	c := Comparison{Schema: Schema, ID: q.ID, Made: time.Now().UTC().Truncate(time.Second), PlannedPairs: q.Planned,
		Interrupted: q.Interrupted, Looks: q.Look.Number, Confidence: q.Look.Confidence(), WorseByPercent: q.WorseBy,
		A: side(q.SpecA, q.A, q.Beds), B: side(q.SpecB, q.B, q.Beds), Metrics: []Metric{}, Failures: []Failure{}, Notes: []string{}, Reasons: []string{}}
	c.A.Build, c.A.Contents, c.B.Build, c.B.Contents = q.BuildA, q.ContentsA, q.BuildB, q.ContentsB
	c.System, c.Scenario, _ = strings.Cut(q.Scenario, "/")
	if q.SecondaryOff {
		c.Secondary = SecondaryOff
	}
	goodA, goodB := good(q.A), good(q.B)
	runs := append(slices.Clone(q.A), q.B...)
	all := results(runs)
	if len(all) > 0 {
		c.about(all[0])
		c.Notes = append(c.Notes, generatorDiffers(all)...)
		c.Notes = append(c.Notes, streamingDiffers(runs)...)
		c.Notes = append(c.Notes, unknownNotes(q)...)
	}
	c.Interleaved, c.kept = !q.Kept && interleaved(q.A, q.B), q.Kept
	c.DurationS = duration(all)
	c.findMissing(q)
	if len(goodA) > 0 && len(goodB) > 0 {
		c.compare(q, goodA, goodB)
	}
	c.answers = answers(goodA, goodB)
	c.countFailedRuns(q.A, q.B)
	c.countErrors(q.A, q.B)
	c.excludeSecondary(len(goodA))
	c.judge(q, len(goodA), len(goodB), c.answer(q.Look))
	c.Headline = c.headline()
	return c
}

// duration is the time from the first run's start to the last run's end, in seconds.
func duration(all []result.Result) float64 {
	if len(all) == 0 {
		return 0
	}
	first, last := all[0].Run.Start, all[0].Run.End
	for _, r := range all {
		if r.Run.Start.Before(first) {
			first = r.Run.Start
		}
		if r.Run.End.After(last) {
			last = r.Run.End
		}
	}
	return last.Sub(first).Seconds()
}

func (c *Comparison) about(r result.Result) {
	c.System, c.Scenario, c.Title, c.Profile = r.Run.System, r.Run.Scenario, r.Run.Title, r.Run.Profile
	c.Parameters, c.Placement, c.Host, c.Link, c.Windtunnel = r.Run.Parameters, r.Run.Placement, r.Run.Host, r.Run.Link, r.Run.Versions["windtunnel"]
}

func side(spec string, runs []Measured, beds func(string) testbed.Testbed) Side {
	s := Side{Spec: spec, Versions: map[string]string{}, Runs: []SideRun{}}
	for _, m := range runs {
		r := SideRun{File: m.File, Pair: m.Pair, Outcome: m.Outcome, Message: Unusable(m)}
		r.Used, r.Failed = r.Message == "", failed(m) != ""
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

// interleaved reports whether the runs took turns: the two runs of each pair were consecutive.
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
	// A pair that appears twice has a run elsewhere, so it did not take turns.
	seen := map[int]bool{}
	for i, m := range order {
		if i > 0 && m.pair != order[i-1].pair && seen[m.pair] {
			return false
		}
		seen[m.pair] = true
	}
	return len(order) > 0
}

// pairs counts the pairs with a result on both sides.
func pairs(a, b []Measured) int {
	return seq.Count(a, func(m Measured) bool {
		return m.Result != nil && slices.ContainsFunc(b, func(o Measured) bool { return o.Pair == m.Pair && o.Result != nil })
	})
}

// ExitCode is the exit code of a comparison.
func (c Comparison) ExitCode() int {
	switch {
	case c.Interrupted:
		return exit.Interrupted
	case c.Verdict == Pass:
		return exit.Pass
	case c.Verdict == Fail:
		return exit.Fail
	}
	return exit.Inconclusive
}
