// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"windtunnel/k6/internal/format"
)

// Interval is the change of a metric in percent, with its interval. At Bound the change is the largest that may pass.
// Class is good, bad or empty.
type Interval struct {
	Title, Text, Class         string
	Estimate, Low, High, Bound float64
}

// The columns of a chart of intervals, in SVG user units.
const (
	intervalsWidth = 900.0
	intervalsLeft  = 400.0
	intervalsRight = 700.0
	// farthest is the end of the scale, as a multiple of the largest bound: a farther interval is cut there.
	farthest = 5
)

// DrawIntervals draws a line for each change, with its estimate and its bound; "" without changes. left is the number of
// metrics that it does not get.
func DrawIntervals(changes []Interval, left int) template.HTML {
	if len(changes) == 0 {
		return ""
	}
	bound, reach := 0.0, 0.0
	for _, c := range changes {
		bound = math.Max(bound, math.Abs(c.Bound))
		reach = math.Max(reach, math.Max(math.Abs(c.Low), math.Abs(c.High)))
	}
	reach = 1.1 * math.Min(math.Max(reach, math.Min(bound, 100)), farthest*math.Max(bound, 1))
	x := func(percent float64) float64 {
		share := (math.Max(-reach, math.Min(reach, percent))/reach + 1) / 2
		return intervalsLeft + share*(intervalsRight-intervalsLeft)
	}
	const title = "Change from A to B, with its interval"
	var body strings.Builder
	fmt.Fprintf(&body, `<text class="head" x="0" y="12">%s</text>`, esc(title))
	bottom := headHeight + float64(len(changes))*rowHeight
	fmt.Fprintf(&body, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x(0), headHeight, x(0), bottom)
	for i, c := range changes {
		y := headHeight + (float64(i)+0.5)*rowHeight
		fmt.Fprintf(&body, `<text class="label" x="%.1f" y="%.1f">%s</text>`, intervalsLeft-10, y+4, esc(format.Shorten(c.Title, 64)))
		if math.Abs(c.Bound) <= reach {
			fmt.Fprintf(&body, `<line class="mark" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x(c.Bound), y-8, x(c.Bound), y+8)
		}
		fmt.Fprintf(&body, `<line class="interval %s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, c.Class, x(c.Low), y, x(c.High), y)
		fmt.Fprintf(&body, `<circle class="interval %s" cx="%.1f" cy="%.1f" r="4"/>`, c.Class, x(c.Estimate), y)
		fmt.Fprintf(&body, `<text class="value" x="%.1f" y="%.1f">%s</text>`, intervalsRight+10, y+4, esc(c.Text))
	}
	fmt.Fprintf(&body, `<text class="axis" x="%.1f" y="%.1f">no change</text>`, x(0), bottom+13)
	legend := "Dashed: the bound. Green: better. Red: worse."
	if left > 0 {
		legend += fmt.Sprintf(" The table has %s.", format.Plural(left, "more metric"))
	}
	fmt.Fprintf(&body, `<text class="label start" x="0" y="%.1f">%s</text>`, bottom+13, legend)
	description := fmt.Sprintf("%d changes, each in percent with its interval and its bound", len(changes))
	return template.HTML(wideFrame(intervalsWidth, title, description, bottom+18, body.String())) // esc escaped all text in it
}
