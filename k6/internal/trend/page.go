// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/report"
)

//go:embed page.html.tmpl
var pageTemplate string

var page = template.Must(template.New("trend").Parse(pageTemplate))

// section is a group on the page.
type section struct {
	Title, Name string
	Facts       []string
	Charts      []template.HTML
	Changes     []changeRow
}

// changeRow is a row of the table of changes.
type changeRow struct{ Metric, Change, From, To, Since, Before, After string }

// HTML is the page of a history: a graph for each metric, and what changed. It needs nothing else.
func HTML(h History, groups []Group) ([]byte, error) {
	var sections []section
	changes := 0
	for _, g := range groups {
		s := sectionOf(g)
		changes += len(s.Changes)
		sections = append(sections, s)
	}
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Style    template.CSS
		Class    string
		Points   int
		Changes  int
		Sections []section
	}{report.Style(), h.Class.String(), len(h.Points), changes, sections})
	return b.Bytes(), err
}

func sectionOf(g Group) section {
	last := g.Last()
	s := section{Title: last.Title, Name: last.Name(), Facts: []string{factOf(g), "Parameters: " + parametersOf(last)}}
	if last.Testbed != "" {
		s.Facts = append(s.Facts, "Testbed: "+last.Testbed)
	}
	for _, one := range g.Series {
		s.Charts = append(s.Charts, report.DrawGraph(lineOf(g, one)))
		for _, c := range one.Changes {
			before, after := g.Between(one, c)
			s.Changes = append(s.Changes, changeRow{Metric: one.Figure.Title, Change: changeText(one, c), From: valueText(c.Before, one.Figure.Unit),
				To: valueText(c.After, one.Figure.Unit), Since: after.Start.Format("2006-01-02 15:04"), Before: of(before), After: of(after)})
		}
	}
	return s
}

func factOf(g Group) string {
	return fmt.Sprintf("Profile %s, %d points from %s to %s", g.Last().Profile, len(g.Points), g.Points[0].Start.Format("2006-01-02"), g.Last().Start.Format("2006-01-02"))
}

// parametersOf are a point's parameters on one line; the keys of JSON are sorted.
func parametersOf(p Point) string {
	text, err := json.Marshal(p.Parameters)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return strings.NewReplacer(`"`, "", "{", "", "}", "", ",", ", ", ":", " ").Replace(string(text))
}

// of says which run it was, and of what.
func of(p Point) string {
	if v := p.Version(); v != "" {
		return v + " (" + p.Run + ")"
	}
	return p.Run
}

func lineOf(g Group, s Series) report.Graph {
	l := report.Graph{Title: s.Figure.Title + unitText(s.Figure.Unit)}
	for i, value := range s.Values {
		p := g.Points[s.At[i]]
		text := valueText(value, s.Figure.Unit)
		l.Points = append(l.Points, report.GraphPoint{At: p.Start, Value: value, Text: text,
			Label: fmt.Sprintf("%s: %s, %s", p.Start.Format("2006-01-02 15:04"), text, of(p))})
	}
	for _, c := range s.Changes {
		at := &l.Points[c.Index]
		at.Mark, at.Bad = fmt.Sprintf("%+.1f %%", c.Percent()), !s.Better(c)
	}
	return l
}

func changeText(s Series, c Change) string {
	word := "worse"
	if s.Better(c) {
		word = "better"
	}
	return fmt.Sprintf("%+.1f %%, %s", c.Percent(), word)
}

var units = map[string]string{"ms": "ms", "per_s": "per second", "mbit_per_s": "Mbit/s", "us": "µs", "bytes": "MiB", "share": "share"}

func unitText(unit string) string {
	if text := units[unit]; text != "" {
		return ", " + text
	}
	return ", " + unit
}

// valueText is a value without its unit; bytes are in MiB.
func valueText(value float64, unit string) string {
	switch unit {
	case "ms":
		return format.MS(&value)
	case "per_s", "mbit_per_s":
		return format.Rate(&value)
	case "bytes":
		value /= 1 << 20
	}
	if math.Abs(value) >= 1000 {
		return format.Count(int64(math.Round(value)))
	}
	return fmt.Sprintf("%.3g", value)
}
