// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/format"
)

// Graph is one value over time. A point's Label is its tooltip. Its Mark, unless "", is the text of a line before the
// point. Bad colours the point.
type Graph struct {
	Title  string
	Points []GraphPoint
}

// GraphPoint is a point of a graph.
type GraphPoint struct {
	At    time.Time
	Value float64
	Text  string // value with unit
	Label string
	Mark  string
	Bad   bool
}

// The chart of a line: its height, and the space above for marks.
const (
	lineTop    = 44.0
	lineBottom = 150.0
	lineRight  = chartWidth - 8
)

// DrawGraph draws a graph as SVG, "" without points. Points are equally spaced, whatever their times: runs come in
// bursts. The scale begins at 0 only if the values come near it.
func DrawGraph(g Graph) template.HTML {
	if len(g.Points) == 0 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range g.Points {
		low, high = math.Min(low, p.Value), math.Max(high, p.Value)
	}
	room := math.Max((high-low)*0.15, math.Abs(high)*0.02)
	low, high = low-room, high+room
	if high == low {
		high++
	}
	x := func(i int) float64 {
		return plotLeft + (float64(i)+0.5)/float64(len(g.Points))*(lineRight-plotLeft)
	}
	y := func(v float64) float64 { return lineBottom - (v-low)/(high-low)*(lineBottom-lineTop) }
	var body strings.Builder
	fmt.Fprintf(&body, `<text class="head" x="0" y="12">%s</text>`, esc(format.Shorten(g.Title, 70)))
	extremes := []int{0, 0}
	var path []string
	for i, p := range g.Points {
		if p.Value < g.Points[extremes[0]].Value {
			extremes[0] = i
		}
		if p.Value > g.Points[extremes[1]].Value {
			extremes[1] = i
		}
		path = append(path, fmt.Sprintf("%.1f,%.1f", x(i), y(p.Value)))
		if p.Mark == "" {
			continue
		}
		class, at := "good", (x(i)+x(max(0, i-1)))/2
		if p.Bad {
			class = "bad"
		}
		fmt.Fprintf(&body, `<line class="change %s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, at, lineTop-10, at, lineBottom)
		fmt.Fprintf(&body, `<text class="axis %s" x="%.1f" y="%.1f">%s</text>`, class, at, lineTop-15, esc(p.Mark))
	}
	for _, i := range slices.Compact(extremes) {
		at := y(g.Points[i].Value)
		fmt.Fprintf(&body, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, plotLeft, at, lineRight, at)
		fmt.Fprintf(&body, `<text class="label" x="%.1f" y="%.1f">%s</text>`, plotLeft-6, at+4, esc(g.Points[i].Text))
	}
	fmt.Fprintf(&body, `<polyline class="trend" points="%s"/>`, strings.Join(path, " "))
	for i, p := range g.Points {
		fmt.Fprintf(&body, `<circle class="p95" cx="%.1f" cy="%.1f" r="3"><title>%s</title></circle>`, x(i), y(p.Value), esc(p.Label))
	}
	first, last := g.Points[0], g.Points[len(g.Points)-1]
	fmt.Fprintf(&body, `<text class="label start" x="%.1f" y="%.1f">%s</text>`, plotLeft, lineBottom+16, first.At.Format(time.DateOnly))
	fmt.Fprintf(&body, `<text class="label" x="%.1f" y="%.1f">%s</text>`, lineRight, lineBottom+16, last.At.Format(time.DateOnly))
	description := fmt.Sprintf("%d points, from %s to %s", len(g.Points), first.Text, last.Text)
	return template.HTML(frame(g.Title, description, lineBottom+22, body.String())) // esc escaped all text in it
}

// Style is the pages' style, for other pages of Windtunnel.
func Style() template.CSS { return template.CSS(pageStyle) }
