// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"math"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// sectionCharts draws the sections that declare a plot. Curves and courses are drawn together; otherwise each column of
// numbers has its own chart, because units may differ.
func sectionCharts(r result.Result) []string {
	var all []string
	for _, s := range r.Sections {
		if s.Plot == nil {
			continue
		}
		if together, known := map[string]func(result.Section) string{"curves": curvePlot, "course": coursePlot}[s.Plot.Kind]; known {
			if svg := together(s); svg != "" {
				all = append(all, svg)
			}
			continue
		}
		draw := barPlot
		if s.Plot.Kind == "line" {
			draw = linePlot
		}
		for _, y := range s.Plot.Y {
			if points := pointsOf(s, y); len(points) > 0 {
				all = append(all, draw(s.Title, head(s.Columns[s.Place(y)]), head(s.Columns[s.Place(s.Plot.X)]), points))
			}
		}
	}
	return all
}

// point is a row with a number. X is 0 if the row has no number for it.
type point struct {
	label, text string
	x, y        float64
}

func pointsOf(s result.Section, y string) []point {
	var points []point
	at, of := s.Place(s.Plot.X), s.Place(y)
	for _, row := range s.Rows {
		value := row[of].Value
		if value == nil || s.Plot.Kind == "line" && row[at].Value == nil {
			continue
		}
		p := point{label: cellText(s.Columns[at], row[at]), text: cellText(s.Columns[of], row[of]), y: *value}
		if row[at].Value != nil {
			p.x = *row[at].Value
		}
		points = append(points, p)
	}
	return points
}

func barPlot(title, y, x string, points []point) string {
	most := 0.0
	for _, p := range points {
		most = math.Max(most, math.Abs(p.y))
	}
	bars := seq.Map(points, func(p point) bar { return bar{x + " " + p.label, p.text, "rate", math.Abs(p.y) / math.Max(most, 1e-9)} })
	return barBlocks(title, block{y, bars})
}

// linePlot has both axes start at 0, so that proportional growth is a straight line through the origin.
func linePlot(title, y, x string, points []point) string {
	const top, bottom = 28.0, 190.0
	mostX, mostY := 0.0, 0.0
	for _, p := range points {
		mostX, mostY = math.Max(mostX, p.x), math.Max(mostY, p.y)
	}
	var body strings.Builder
	var line, descriptions []string
	fmt.Fprintf(&body, `<text class="head" x="0" y="12">%s</text>`, esc(title+": "+y))
	fmt.Fprintf(&body, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, plotLeft, bottom, plotRight, bottom)
	for _, p := range points {
		atX := plotLeft + p.x/math.Max(mostX, 1e-9)*(plotRight-plotLeft)
		atY := bottom - math.Max(0, p.y)/math.Max(mostY, 1e-9)*(bottom-top)
		line = append(line, fmt.Sprintf("%.1f,%.1f", atX, atY))
		fmt.Fprintf(&body, `<circle class="p50" cx="%.1f" cy="%.1f" r="5.5"/>`, atX, atY)
		fmt.Fprintf(&body, `<text class="value" x="%.1f" y="%.1f">%s</text>`, atX+9, atY-6, esc(p.text))
		fmt.Fprintf(&body, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, atX, bottom+15, esc(p.label))
		descriptions = append(descriptions, p.label+" "+p.text)
	}
	fmt.Fprintf(&body, `<polyline class="stem" fill="none" points="%s"/>`, strings.Join(line, " "))
	fmt.Fprintf(&body, `<text class="label start" x="0" y="%.1f">%s</text>`, bottom+32, esc(x))
	return frame(title, y+" by "+x+": "+strings.Join(descriptions, ", "), bottom+40, body.String())
}
