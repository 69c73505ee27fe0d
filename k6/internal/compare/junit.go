// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"strings"

	"windtunnel/k6/internal/junit"
)

// JUnit writes comparisons as JUnit XML: one suite for each, with a case for each judged metric, for each kind of
// failure, and for the verdict. An unclear metric is skipped, with its interval. A verdict other than pass or fail is an
// error, because CI counts skipped cases as green.
func JUnit(all []Comparison) ([]byte, error) {
	var suites []junit.Suite
	id, seconds := "", 0.0
	for _, c := range all {
		id, seconds = c.ID, seconds+c.DurationS
		suites = append(suites, c.suite())
	}
	if len(all) > 1 {
		id, _, _ = strings.Cut(id, "/")
	}
	return junit.Write("windtunnel "+id, suites, seconds)
}

func (c Comparison) suite() junit.Suite {
	a, b := c.names()
	s := junit.Suite{Name: c.name(), Time: junit.Time(c.DurationS), Timestamp: c.Made.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junit.Property{{Name: "profile", Value: c.Profile}, {Name: "a", Value: a}, {Name: "b", Value: b}, {Name: "comparison", Value: c.ID}}}
	add := func(name string, of func(*junit.Case)) {
		one := junit.Case{Name: name, ClassName: strings.ReplaceAll(c.name(), "/", "."), Time: junit.Time(0)}
		of(&one)
		s.Add(one)
	}
	for _, m := range c.Metrics {
		if m.Outcome == "" && m.Role != Primary {
			continue
		}
		add("metric "+m.Title, func(one *junit.Case) { m.into(one, c) })
	}
	for _, f := range c.Failures {
		row := f.row()
		add("failures "+f.Kind, func(one *junit.Case) {
			text := row[4] + ": A " + row[1] + ", B " + row[2]
			switch f.Outcome {
			case "beyond":
				one.Failure = &junit.Fault{Message: text, Type: Fail, Text: text}
			case "unclear":
				one.Skipped = &junit.Message{Message: text}
			}
		})
	}
	add("verdict", func(one *junit.Case) {
		why := strings.Join(c.Reasons, "; ")
		switch {
		case c.word() == Pass:
		case c.word() == Fail:
			one.Failure = &junit.Fault{Message: why, Type: Fail, Text: why}
		default:
			one.Error = &junit.Fault{Message: c.word() + ": " + why, Type: c.word(), Text: why}
		}
	})
	return s
}

// into writes a metric's outcome into a case. Only a primary metric must be within its bound.
func (m Metric) into(one *junit.Case, c Comparison) {
	text := m.Title + ": " + changeText(m.Change) + " (" + interval(m.Change) + "), " + m.says()
	switch {
	case m.Gate && c.Verdict == Fail:
		one.Failure = &junit.Fault{Message: text, Type: Fail, Text: text}
	case m.Gate:
		one.Skipped = &junit.Message{Message: text + "; the verdict is " + c.word()}
	case m.Role == Primary && m.Outcome != "within":
		one.Skipped = &junit.Message{Message: text}
	}
}
