// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

//go:embed page.html.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"class":  stateClass,
	"charts": charts,
	"spoken": spoken,
	"anchor": anchor,
}).Parse(pageTemplate))

// HTML writes the report as one file that needs nothing else.
func HTML(set Set, options Options) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Page
		Style template.CSS
		Cards []card
	}{build(set, options), template.CSS(pageStyle), cards(set)})
	return b.Bytes(), err
}

// stateClass is the CSS class of a verdict or a tick.
func stateClass(state string) string {
	switch state {
	case "pass", tickOK:
		return "pass"
	case "fail", "set-up failed", tickBad:
		return "fail"
	case "":
		return ""
	}
	return "doubt"
}

// spoken is what a screen reader says for a tick.
func spoken(state string) string {
	switch state {
	case tickOK:
		return "holds"
	case tickBad:
		return "does not hold"
	case tickUnknown:
		return "unknown"
	}
	return state
}

// card is a scenario at a glance.
type card struct {
	Name, Outcome, Title string
	Value, Unit          string // the headline number
	Lines                []string
}

func cards(set Set) []card {
	var all []card
	for _, e := range set.Entries() {
		c := card{Name: e.Name, Outcome: e.Outcome, Value: format.None}
		if len(e.Reasons) > 0 {
			c.Lines = []string{shorten(e.Reasons[0], 90)}
		}
		if e.Result != nil {
			c.Title = e.Result.Run.Title
		}
		if e.Result != nil && len(e.Result.Operations) > 0 {
			op := e.Result.Operations[0]
			c.Value, c.Unit = format.Rate(op.RatePerS), "per second"
			if op.Items != nil {
				c.Value, c.Unit = format.Rate(op.Items.RatePerS), op.Items.Name+" per second"
			}
			lines := []string{format.Success(op.Success, op.Requests) + " succeeded"}
			if l := op.LatencyMS; l != nil {
				lines = append(lines, percentiles(*l))
			}
			c.Lines = append(lines, c.Lines...)
		}
		all = append(all, c)
	}
	return all
}

// percentiles is `P50 1.2 ms, P99 3.4 ms`, without what has too few samples.
func percentiles(l result.Latency) string {
	var parts []string
	for _, m := range marksOf(&l) {
		if m.name == "P50" || m.name == "P99" || m.name == "max" && l.P99 == nil {
			parts = append(parts, m.name+" "+format.MS(&m.value)+" ms")
		}
	}
	return strings.Join(parts, ", ")
}

func shorten(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
