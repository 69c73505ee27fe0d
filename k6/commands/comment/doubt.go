// SPDX-License-Identifier: AGPL-3.0-only

package comment

import (
	"regexp"
	"slices"

	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// noisy has the kinds of reasons about figures that exist but cannot be trusted. few has the kinds that more samples
// would fix. Each other kind is about a missing measurement.
var (
	noisy = []string{result.Machine, result.Generator, "meter", "dropped", "clock", "limit", "noise", "error", "threshold", "target"}
	few   = []string{"samples", "rounds"}
)

var (
	// turnsWould matches the judge's words for a row of the protocol matrix that more turns would decide.
	turnsWould = regexp.MustCompile(`\babout \d+ turns would decide\b|\bTURNS=\d+`)
	// absent matches the judge's words for a figure that a row or a side lacks, whatever the kind of the reason is.
	absent = regexp.MustCompile(`\b(?:not|never) (?:measured|compared|counted|recorded)\b|\bmissing\b|\bno (?:figure|value|sample)s?\b|\blacks?\b`)
)

// doubtOf says why a run is inconclusive: the gravest doubt of its inconclusive scenarios.
func doubtOf(set report.Set) string {
	var doubts []string
	for _, e := range set.Entries() {
		switch e.Outcome {
		case run.Pass, run.Fail:
		default:
			doubts = append(doubts, doubtOfEntry(e))
		}
	}
	if len(doubts) == 0 {
		return compare.IsMissing
	}
	return compare.Gravest(doubts...)
}

func doubtOfEntry(e report.Entry) string {
	if e.Result == nil || len(e.Reasons) == 0 || unchecked(*e.Result) {
		return compare.IsMissing
	}
	var doubts []string
	for _, r := range e.Reasons {
		texts := r.All
		if len(texts) == 0 {
			texts = []string{r.Text}
		}
		doubts = append(doubts, seq.Map(texts, func(text string) string { return doubtOfReason(r.Kind, text) })...)
	}
	return compare.Gravest(doubts...)
}

func doubtOfReason(kind, text string) string {
	switch {
	case absent.MatchString(text) || !slices.Contains(noisy, kind) && !slices.Contains(few, kind):
		return compare.IsMissing
	case slices.Contains(few, kind) || turnsWould.MatchString(text):
		return compare.TooLittleTime
	}
	return compare.TooNoisy
}

// unchecked reports whether a result has no check of its measurement, or no check that could run.
func unchecked(r result.Result) bool {
	return !slices.ContainsFunc(r.Validity, func(v result.Validity) bool { return v.OK != nil })
}
