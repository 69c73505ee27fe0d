// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// causes are the kinds of reasons that may have caused all others, the likeliest first.
var causes = []string{"process", "system", result.Machine, meter, kindRunner, "interrupt", "probe"}

// more has the words for one more reason of a kind, and for several.
var more = map[string][2]string{
	"process":        {"process", "processes"},
	"system":         {"operation", "operations"},
	result.Machine:   {"check of the machine", "checks of the machine"},
	meter:            {"fault of the generator", "faults of the generator"},
	kindRunner:       {"runner", "runners"},
	"interrupt":      {"part", "parts"},
	"probe":          {"probe", "probes"},
	"error":          {"operation", "operations"},
	"threshold":      {"threshold", "thresholds"},
	"integrity":      {"check of the data", "checks of the data"},
	result.Generator: {"check of the generator", "checks of the generator"},
	"dropped":        {"operation", "operations"},
	"samples":        {"operation", "operations"},
	"rounds":         {"operation", "operations"},
	"clock":          {"operation", "operations"},
	"limit":          {"step", "steps"},
	"row":            {"row", "rows"},
	"target":         {"row", "rows"},
	"noise":          {"row", "rows"},
	"empty":          {"part", "parts"},
}

// reason is why a verdict is not pass; k6/schemas/result.schema.json describes each kind. Reasons with the same kind and
// name are combined into one. The name is the kind of an error, or a target.
type reason struct {
	kind, name, text string
	failed           *failure // for the kind error
	busy             bool     // other programs were on the CPUs and may have caused it
}

type failure struct {
	operation, explanation string
	count                  int64
}

func because(kind, text string) reason { return reason{kind: kind, text: text} }

func errorReasons(rows []result.Operation, controls []result.Control) (reasons []reason) {
	for _, row := range rows {
		control, controlled := seq.Find(controls, func(c result.Control) bool { return c.Operation == row.Name })
		direct, _ := find(rows, control.Control)
		for _, kind := range kinds.Names {
			count := row.Errors[kind]
			if count == 0 {
				continue
			}
			explanation := kinds.Explain(kind, controlled && direct.Errors[kind] == 0) + received(row.Details, kind)
			reasons = append(reasons, reason{
				kind: "error", name: kind,
				text:   fmt.Sprintf("%s: %d × %s in %d requests: %s", row.Name, count, kind, row.Requests, explanation),
				failed: &failure{row.Name, explanation, count},
			})
		}
	}
	return reasons
}

// mostDetails is how many details of a kind a reason names.
const mostDetails = 3

// received describes the answers with errors of a kind, for the end of a sentence.
func received(details []result.ErrorDetail, kind string) string {
	var named []string
	rest := 0
	for _, own := range details {
		switch {
		case own.Kind != kind:
		case len(named) == mostDetails:
			rest++
		default:
			named = append(named, fmt.Sprintf("%s × %s", format.Count(own.Count), own.Detail))
		}
	}
	if len(named) == 0 {
		return ""
	}
	if rest > 0 {
		named = append(named, fmt.Sprintf("%d others", rest))
	}
	return " (received: " + strings.Join(named, "; ") + ")"
}

func crossedReasons(thresholds []result.Threshold) []reason {
	crossed := seq.Filter(thresholds, func(line result.Threshold) bool { return !line.OK })
	return seq.Map(crossed, func(line result.Threshold) reason { return because("threshold", line.Operation+": "+sentence(line)) })
}

func invalidReasons(checks []result.Validity) []reason {
	failed := seq.Filter(checks, func(c result.Validity) bool { return c.OK != nil && !*c.OK })
	return seq.Map(failed, func(c result.Validity) reason { return because(c.Kind, c.Check+": "+c.Detail) })
}

// integrityReasons are the reasons for broken integrity, and for integrity that could not be checked. A far end other
// than the sidecar cannot be checked, and the environment names it: it is no reason. A known fault is no reason either.
func integrityReasons(integrity []result.Integrity) (broken, unknown []reason) {
	for _, line := range integrity {
		r := because("integrity", line.Check+": "+line.Detail)
		switch {
		case line.OK == nil && line.Source == farEnd, line.Known != "":
		case line.OK == nil:
			unknown = append(unknown, r)
		case !*line.OK:
			broken = append(broken, r)
		}
	}
	return broken, unknown
}

// fold combines the reasons of each kind and name. Probable causes come first, because one fault causes many others. The
// other reasons keep their order.
func fold(reasons []reason) []result.Reason {
	groups := seq.Group(reasons, func(r reason) [2]string { return [2]string{r.kind, r.name} })
	slices.SortStableFunc(groups, func(a, b []reason) int { return cmp.Compare(rank(a[0].kind), rank(b[0].kind)) })
	folded := []result.Reason{}
	for _, group := range groups {
		one := result.Reason{Role: "consequence", Kind: group[0].kind, Text: oneOf(group), Count: len(group)}
		if rank(one.Kind) < len(causes) {
			one.Role = result.Cause
		}
		one.BusyMachine = !slices.ContainsFunc(group, func(r reason) bool { return !r.busy })
		if len(group) > 1 {
			one.All = seq.Map(group, func(r reason) string { return r.text })
		}
		folded = append(folded, one)
	}
	return folded
}

func rank(kind string) int {
	if i := slices.Index(causes, kind); i >= 0 {
		return i
	}
	return len(causes)
}

func oneOf(group []reason) string {
	first, rest := group[0], len(group)-1
	if rest == 0 {
		return first.text
	}
	words := more[first.kind][1]
	if rest == 1 {
		words = more[first.kind][0]
	}
	if first.failed == nil {
		return fmt.Sprintf("%s (and %d more %s)", first.text, rest, words)
	}
	var times int64
	for _, r := range group {
		times += r.failed.count
	}
	return fmt.Sprintf("%s and %d more %s: %s × %s: %s", first.failed.operation, rest, words, format.Count(times), first.name, first.failed.explanation)
}
