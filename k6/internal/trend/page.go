// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/seq"
)

//go:embed page.html.tmpl
var pageTemplate string

var page = template.Must(template.New("trend").Parse(pageTemplate))

type section struct {
	Title, Name string
	Facts       []string
	Charts      []template.HTML
	Changes     []changeRow
	Told        []string // about creeps, and about withheld changes
}

type changeRow struct{ Metric, Change, From, To, Since, Before, After string }

// HTML is the page of a history: a graph for each metric, and its changes. The page is self-contained.
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
		Holds    string
		Sections []section
	}{report.Style(), h.Class.String(), len(h.Points), changes, Holds, sections})
	return b.Bytes(), err
}

func sectionOf(g Group) section {
	last := g.Last()
	fact := fmt.Sprintf("Profile %s, %d points from %s to %s", last.Profile, len(g.Points), g.Points[0].Start.Format(time.DateOnly), last.Start.Format(time.DateOnly))
	s := section{Title: last.Title, Name: last.Name(), Facts: []string{fact, "Parameters: " + parametersOf(last)}}
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
		for _, line := range g.remarks(one) {
			s.Told = append(s.Told, one.Figure.Title+": "+line)
		}
	}
	return s
}

// parametersOf are a point's parameters in one line; JSON sorts the keys.
func parametersOf(p Point) string {
	text, err := json.Marshal(p.Parameters)
	if err != nil {
		panic(err) // the value came from JSON
	}
	return strings.NewReplacer(`"`, "", "{", "", "}", "", ",", ", ", ":", " ").Replace(string(text))
}

// of describes a point's run and version.
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

// Holds says under which condition the rate of false alarms holds.
const Holds = "In simulations less than 2 of 100 flat series are told to change, and less than 2 to creep. This holds for independent points, " +
	"and for an autocorrelation at lag 1 of at most 0.7, which is corrected for (docs/how-to/trend.md)."

// Label names a group in one line: scenario, profile, testbed with its variables, parameters.
func (g Group) Label() string {
	p := g.Last()
	bed := "no testbed"
	if p.Testbed != "" {
		bed = "testbed " + p.Testbed
	}
	return fmt.Sprintf("%s %s, %s, %s", p.Name(), p.Profile, bed, cmp.Or(parametersOf(p), "no parameters"))
}

const noVersion = "version unknown"

// Lines describe a group's changes and creeps, one line each. Each line names the group.
func (g Group) Lines() []string {
	var lines []string
	for _, s := range g.Series {
		for _, c := range s.Changes {
			before, after := g.Between(s, c)
			lines = append(lines, fmt.Sprintf("%s: %s %s, since %s (%s; before it %s); %s", g.Label(), s.Figure.Title, changeText(s, c),
				after.Start.Format("2006-01-02 15:04"), cmp.Or(after.Version(), noVersion), cmp.Or(before.Version(), noVersion), s.Dependence))
		}
		lines = append(lines, seq.Map(g.remarks(s), func(line string) string { return fmt.Sprintf("%s: %s %s", g.Label(), s.Figure.Title, line) })...)
	}
	return lines
}

// remarks are the creeps of a series, and the number of withheld changes.
func (g Group) remarks(s Series) []string {
	var lines []string
	for _, c := range s.Creeps {
		first, last := g.Points[s.At[c.First]], g.Points[s.At[c.Last]]
		word := "worse"
		if s.CreepsBetter(c) {
			word = "better"
		}
		lines = append(lines, fmt.Sprintf("creeps, %s: %+.1f %% over %d points from %s to %s, %+.2g %% a point, by no single commit; %s", word, c.Percent(),
			c.Last-c.First+1, first.Start.Format("2006-01-02"), last.Start.Format("2006-01-02"), c.PerPoint(), s.Dependence))
	}
	if s.Withheld > 0 {
		lines = append(lines, fmt.Sprintf("has %d proposed %s withheld, which a flat series may have by its autocorrelation; %s", s.Withheld, format.Noun(s.Withheld, "change"), s.Dependence))
	}
	return lines
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
