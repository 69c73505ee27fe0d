// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/seq"
)

func (m Metric) isSpeed() bool {
	return slices.Contains([]string{meanSpeed, "mbit_per_s", "rate_per_s", "avg", "p50", "p95", "p99"}, m.Name)
}

// headline says in one sentence how fast B is, by the primary metric of speed. Other scenarios
// get a sentence on how much B needs, by the primary metric with the largest change for the worse.
func (c Comparison) headline() string {
	m, ok := c.leading()
	if !ok {
		return nothing
	}
	words := [4]string{"%s is %s %% faster than %s", "%s is %s %% slower than %s", "%s is as fast as %s", "%s may be faster or slower than %s"}
	if !m.isSpeed() {
		words = [4]string{"%s needs %s %% less than %s", "%s needs %s %% more than %s", "%s needs as much as %s", "%s may need more or less than %s"}
	}
	a, b := c.names()
	by := ""
	if m.Change.Lo != nil && m.Change.Hi != nil {
		by = ": " + signed(*m.Change.Lo) + " to " + signed(*m.Change.Hi) + " %"
	}
	of := " (" + m.Title + ")" + c.alsoFailing(m)
	switch {
	case m.Judgement == Better:
		return fmt.Sprintf(words[0], b, short(math.Abs(m.Change.Estimate)), a) + by + of
	case m.Judgement == Worse:
		return fmt.Sprintf(words[1], b, short(math.Abs(m.Change.Estimate)), a) + by + of
	case m.Outcome == string(difference.Within):
		return fmt.Sprintf(words[2], b, a) + by + of
	}
	return fmt.Sprintf(words[3], b, a) + by + of
}

// mostNamed is the largest number of further failing metrics in a headline.
const mostNamed = 3

// alsoFailing names the other metrics for which the comparison fails; "" without any.
func (c Comparison) alsoFailing(leading Metric) string {
	failing := seq.Filter(c.Metrics, func(m Metric) bool {
		return m.Gate && (m.Operation != leading.Operation || m.Name != leading.Name)
	})
	if c.Verdict != Fail || len(failing) == 0 {
		return ""
	}
	// The headline says how fast B is.
	slices.SortStableFunc(failing, func(x, y Metric) int { return cmp.Compare(rankOf(x), rankOf(y)) })
	named := failing[:min(len(failing), mostNamed)]
	text := "; worse: " + strings.Join(seq.Map(named, func(m Metric) string { return m.Title + " " + changeText(m.Change) }), ", ")
	if left := len(failing) - len(named); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

func rankOf(m Metric) int {
	if m.isSpeed() {
		return 1
	}
	return 0
}

// leading is the primary metric of speed, else the primary metric that changed most for the worse; false if there is no
// primary metric.
func (c Comparison) leading() (Metric, bool) {
	var leading *Metric
	for i := range c.Metrics {
		m := &c.Metrics[i]
		switch {
		case m.Role != Primary || m.Change == nil:
		case m.isSpeed():
			return *m, true
		case leading == nil || m.shift.Estimate() > leading.shift.Estimate():
			leading = m
		}
	}
	if leading == nil {
		return Metric{}, false
	}
	return *leading, true
}

// names returns names of the sides: their differences, or their letters.
func (c Comparison) names() (a, b string) {
	a, b = c.label("A"), c.label("B")
	if a == b {
		return "A", "B"
	}
	return a, b
}

// label names a side: by its testbed as given, else by the testbed's name and the variables that differ from the other
// side, else by the side's letter.
func (c Comparison) label(side string) string {
	own, other := c.A, c.B
	if side == "B" {
		own, other = c.B, c.A
	}
	switch {
	case own.Build != nil:
		return own.Build.String()
	case own.Spec != "":
		return own.Spec
	case own.Testbed == nil:
		return side
	case other.Testbed == nil || own.Testbed.Name != other.Testbed.Name:
		return own.Testbed.Name
	}
	differ := map[string]any{}
	for name, v := range own.Testbed.Variables {
		if other.Testbed.Variables[name] != v {
			differ[name] = v
		}
	}
	if len(differ) == 0 {
		return own.Testbed.Name
	}
	return own.Testbed.Name + ":" + strings.ReplaceAll(list(differ), ", ", ",")
}

// short writes a percentage with few digits: 47, 3.2, 0.4.
func short(v float64) string {
	if math.Abs(v) >= 10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func signed(v float64) string {
	text := short(v)
	switch {
	case strings.Trim(text, "-0.") == "":
		return "0"
	case v > 0:
		return "+" + text
	}
	return text
}

// confidenceText is a share in percent, with enough digits to differ from 100.
func confidenceText(share float64) string {
	return strconv.FormatFloat(math.Floor(share*10000)/100, 'f', -1, 64)
}
