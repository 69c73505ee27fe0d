// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// The chart of a course: as wide as curves, with an optional lower part.
const (
	courseTop    = 48.0 // the space above is for marks
	courseBottom = 230.0
	lowerTop     = 268.0
	lowerBottom  = 360.0
	lowerLines   = 2
	timeSteps    = 8
)

// coursePlot draws the columns Y over a number, such as a time. The columns below have a separate axis; a column and its
// lower column share a colour. A text in the column of marks draws a line through both parts.
func coursePlot(s result.Section) string {
	x := s.Place(s.Plot.X)
	s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(row []result.Cell) bool { return row[x].Value == nil })
	all, most := curvesOf(s, s.Plot.Y)
	time, ok := timeAxisOf(s, x)
	if len(all) == 0 || !ok {
		return ""
	}
	atRow := func(place int) float64 { return time.at(*s.Rows[place][x].Value) }
	upper := panelOf(courseTop, courseBottom, most, gridLines)
	var body strings.Builder
	upper.draw(&body, 12, s.Title+", "+s.Columns[s.Place(s.Plot.Y[0])].Unit)
	bottom := courseBottom
	if lower := s.Plot.Below; lower != nil {
		below, mostBelow := curvesOf(s, lower.Y)
		p := panelOf(lowerTop, lowerBottom, mostBelow, lowerLines)
		p.draw(&body, lowerTop-14, lower.Title+", "+s.Columns[s.Place(lower.Y[0])].Unit)
		drawCourses(&body, below, atRow, p)
		bottom = lowerBottom
	}
	time.draw(&body, bottom, head(s.Columns[x]))
	drawMarks(&body, s, atRow, bottom)
	drawCourses(&body, all, atRow, upper)
	nameCurves(&body, all, atRow, upper.at)
	return wideFrame(curvesWidth, s.Title, describeCourse(s, all), bottom+42, body.String())
}

// panel is a part of a chart with an axis that starts at 0.
type panel struct {
	top, bottom, most, step float64
}

func panelOf(top, bottom, most, lines float64) panel {
	step := niceStep(most / lines)
	return panel{top, bottom, math.Max(step, math.Ceil(most/step)*step), step}
}

func (p panel) at(v float64) float64 {
	return p.bottom - math.Max(0, math.Min(v, p.most))/p.most*(p.bottom-p.top)
}

func (p panel) draw(body *strings.Builder, titleAt float64, title string) {
	fmt.Fprintf(body, `<text class="head" x="0" y="%.1f">%s</text>`, titleAt, esc(title))
	for v := 0.0; v <= p.most*1.0001; v += p.step {
		fmt.Fprintf(body, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, curvesLeft, p.at(v), curvesRight, p.at(v))
		fmt.Fprintf(body, `<text class="label" x="%.1f" y="%.1f">%s</text>`, curvesLeft-6, p.at(v)+4, tickText(v))
	}
}

type timeAxis struct{ from, to float64 }

// timeAxisOf is not ok with fewer than two numbers.
func timeAxisOf(s result.Section, x int) (axis timeAxis, ok bool) {
	axis = timeAxis{math.Inf(1), math.Inf(-1)}
	for _, row := range s.Rows {
		axis.from, axis.to = math.Min(axis.from, *row[x].Value), math.Max(axis.to, *row[x].Value)
	}
	return axis, axis.to > axis.from
}

func (t timeAxis) at(v float64) float64 {
	return curvesLeft + (v-t.from)/(t.to-t.from)*(curvesRight-curvesLeft)
}

func (t timeAxis) draw(body *strings.Builder, bottom float64, title string) {
	step := niceStep((t.to - t.from) / timeSteps)
	for i := math.Ceil(t.from / step); i*step <= t.to*1.0001; i++ {
		fmt.Fprintf(body, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, t.at(i*step), bottom+16, tickText(i*step))
	}
	fmt.Fprintf(body, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, (curvesLeft+curvesRight)/2, bottom+33, esc(title))
}

// tickText removes the rounding error of adding up steps.
func tickText(v float64) string { return trimNumber(math.Round(v*1e6)/1e6 + 0) }

func drawMarks(body *strings.Builder, s result.Section, atRow func(int) float64, bottom float64) {
	if s.Plot.Marks == "" {
		return
	}
	for place, row := range s.Rows {
		text := row[s.Place(s.Plot.Marks)].String()
		if text == "" {
			continue
		}
		fmt.Fprintf(body, `<line class="mark" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, atRow(place), courseTop-8, atRow(place), bottom)
		fmt.Fprintf(body, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, atRow(place), courseTop-13, esc(text))
	}
}

func drawCourses(body *strings.Builder, all []curve, atRow func(int) float64, p panel) {
	for _, c := range all {
		line := seq.Map(c.points, func(one curvePoint) string { return fmt.Sprintf("%.1f,%.1f", atRow(one.place), p.at(one.value)) })
		fmt.Fprintf(body, `<g class="curve %s"><polyline points="%s"><title>%s</title></polyline></g>`, c.class, strings.Join(line, " "), esc(c.name))
	}
}

// describeCourse describes the chart for a screen reader. It leaves out the numbers, which are in the table and too many to
// read twice.
func describeCourse(s result.Section, all []curve) string {
	names := seq.Map(all, func(c curve) string { return c.name })
	return fmt.Sprintf("%s, by %s. The numbers are in the table", strings.Join(names, ", "), s.Columns[s.Place(s.Plot.X)].Title)
}
