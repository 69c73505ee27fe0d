// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// The chart of curves: as wide as a page, because it may have many curves.
const (
	curvesWidth  = 760.0
	curvesLeft   = 58.0
	curvesRight  = 590.0 // the space to the right is for the names
	curvesTop    = 30.0
	curvesBottom = 300.0
	nameHeight   = 14.0
	gridLines    = 4
	// curveColours is the number of the page's classes k0, k1 …; further curves reuse them with another dash.
	curveColours = 8
)

type curve struct {
	name   string
	class  string
	points []curvePoint
}

// curvePoint is a row with a number. Low and high are nil without a range.
type curvePoint struct {
	place     int // index of the row
	value     float64
	text      string
	low, high *float64
}

// curvePlot draws all columns Y in one chart; they have the same unit. Rows are equally spaced, because values such as
// 0.1 and 10 would otherwise be too close together, unless the plot asks for logarithms. Whiskers are ranges.
func curvePlot(s result.Section) string {
	x := s.Place(s.Plot.X)
	all, most := curvesOf(s, s.Plot.Y)
	if len(all) == 0 {
		return ""
	}
	atX, p := placesOf(s, x), panelOf(curvesTop, curvesBottom, most, gridLines)
	var body strings.Builder
	p.draw(&body, 12, s.Title+", "+s.Columns[s.Place(s.Plot.Y[0])].Unit)
	for place, row := range s.Rows {
		if s.Plot.Log {
			fmt.Fprintf(&body, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, atX(place), curvesTop, atX(place), curvesBottom)
		}
		fmt.Fprintf(&body, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, atX(place), curvesBottom+16, esc(cellText(s.Columns[x], row[x])))
	}
	title := head(s.Columns[x])
	if s.Plot.Log {
		title += ", logarithmic"
	}
	fmt.Fprintf(&body, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, (curvesLeft+curvesRight)/2, curvesBottom+33, esc(title))
	for _, c := range all {
		drawCurve(&body, c, atX, p.at)
	}
	nameCurves(&body, all, atX, p.at)
	return wideFrame(curvesWidth, s.Title, describeCurves(s, x, all), curvesBottom+42, body.String())
}

// placesOf returns the place of a row on the axis. The first and the last row have half a row's room at their sides.
func placesOf(s result.Section, x int) func(place int) float64 {
	rows := float64(len(s.Rows))
	share := func(place int) float64 { return float64(place) / math.Max(rows-1, 1) }
	if s.Plot.Log {
		logs := seq.Map(s.Rows, func(row []result.Cell) float64 { return math.Log(*row[x].Value) })
		least, most := slices.Min(logs), slices.Max(logs)
		share = func(place int) float64 { return (logs[place] - least) / math.Max(most-least, 1e-9) }
	}
	return func(place int) float64 {
		return curvesLeft + (0.5+share(place)*(rows-1))/rows*(curvesRight-curvesLeft)
	}
}

// curvesOf returns the curves of columns that have a number in any row, and the largest value, including ranges.
func curvesOf(s result.Section, columns []string) (all []curve, most float64) {
	for i, y := range columns {
		at := s.Place(y)
		c := curve{name: s.Columns[at].Title, class: fmt.Sprintf("k%d", i%curveColours)}
		if i >= curveColours {
			c.class += " dashed"
		}
		for place, row := range s.Rows {
			cell := row[at]
			if cell.Value == nil {
				continue
			}
			p := curvePoint{place: place, value: *cell.Value, text: cellText(s.Columns[at], cell)}
			if cell.Range != nil {
				p.low, p.high = cell.Range.Low, cell.Range.High
			}
			most = math.Max(most, p.value)
			if p.high != nil {
				most = math.Max(most, *p.high)
			}
			c.points = append(c.points, p)
		}
		if len(c.points) > 0 {
			all = append(all, c)
		}
	}
	return all, most
}

func drawCurve(body *strings.Builder, c curve, atX func(int) float64, atY func(float64) float64) {
	fmt.Fprintf(body, `<g class="curve %s">`, c.class)
	line := seq.Map(c.points, func(p curvePoint) string { return fmt.Sprintf("%.1f,%.1f", atX(p.place), atY(p.value)) })
	fmt.Fprintf(body, `<polyline points="%s"/>`, strings.Join(line, " "))
	for _, p := range c.points {
		if p.low != nil && p.high != nil {
			fmt.Fprintf(body, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, atX(p.place), atY(*p.low), atX(p.place), atY(*p.high))
		}
		fmt.Fprintf(body, `<circle cx="%.1f" cy="%.1f" r="3.5"><title>%s</title></circle>`, atX(p.place), atY(p.value), esc(c.name+": "+p.text))
	}
	body.WriteString(`</g>`)
}

// nameCurves writes each name in its curve's colour beside the chart, with a thin line to the curve's end. The names are
// in the order of those ends.
func nameCurves(body *strings.Builder, all []curve, atX func(int) float64, atY func(float64) float64) {
	ends := make([]float64, len(all))
	for i, c := range all {
		ends[i] = atY(c.points[len(c.points)-1].value)
	}
	for i, y := range spread(ends, nameHeight, curvesTop, curvesBottom) {
		c := all[i]
		last := c.points[len(c.points)-1]
		fmt.Fprintf(body, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, atX(last.place)+5, ends[i], curvesRight+6, y)
		fmt.Fprintf(body, `<text class="curve name %s" x="%.1f" y="%.1f">%s</text>`, c.class, curvesRight+9, y+4, esc(format.Shorten(c.name, 26)))
	}
}

// spread moves positions apart until each has the given room, and keeps their order; the result is between low and high
// if it fits.
func spread(places []float64, room, low, high float64) []float64 {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	moved := make([]float64, len(places))
	next := low
	for _, i := range order {
		moved[i] = math.Max(places[i], next)
		next = moved[i] + room
	}
	limit := math.Max(high, low+room*float64(len(places)-1))
	for k := len(order) - 1; k >= 0; k-- {
		moved[order[k]] = math.Min(moved[order[k]], limit)
		limit = moved[order[k]] - room
	}
	return moved
}

// niceStep is 1, 2 or 5 times a power of ten, at least v.
func niceStep(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= v*0.9999 {
			return times * power
		}
	}
	return 10 * power
}

func describeCurves(s result.Section, x int, all []curve) string {
	var words []string
	for _, c := range all {
		points := seq.Map(c.points, func(p curvePoint) string { return cellText(s.Columns[x], s.Rows[p.place][x]) + ": " + p.text })
		words = append(words, c.name+" "+strings.Join(points, ", "))
	}
	return s.Title + " by " + s.Columns[x].Title + ". " + strings.Join(words, "; ")
}
