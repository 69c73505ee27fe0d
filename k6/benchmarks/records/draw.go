// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"fmt"
	"math"
	"strings"

	"windtunnel/k6/internal/format"
)

// The graph's geometry, in SVG user units.
const (
	panelWidth  = 330.0
	panelHeight = 220.0
	marginLeft  = 60.0
	marginTop   = 40.0
	marginEnd   = 46.0
)

// draw returns an SVG: CPU time (left) and memory (right) against the number of samples. All axes are logarithmic.
func draw(all []measured) []byte {
	seconds := panel{title: "CPU time (s)", of: func(m measured) float64 { return m.cpuS }}
	memory := panel{title: "Peak memory (MiB)", of: func(m measured) float64 { return float64(m.peakBytes) / (1 << 20) }}
	var body strings.Builder
	seconds.draw(&body, all, 0)
	memory.draw(&body, all, marginLeft+panelWidth)
	width, height := 2*(marginLeft+panelWidth)+20, marginTop+panelHeight+marginEnd
	return []byte(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="11" role="img" aria-label="What judging takes, by the number of samples">
<rect width="100%%" height="100%%" fill="#fff"/>
%s</svg>
`, width, height, body.String()))
}

// panel is one figure. Each mark is a run, labelled with its number of runners.
type panel struct {
	title string
	of    func(measured) float64
}

// scale is a logarithmic axis over whole decades.
type scale struct{ low, high float64 }

func scaleOf(values []float64) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		s.low, s.high = min(s.low, math.Floor(math.Log10(v))), max(s.high, math.Ceil(math.Log10(v)))
	}
	if s.low == s.high {
		s.high++
	}
	return s
}

// at returns the position of a value on the axis, 0 to 1.
func (s scale) at(v float64) float64 { return (math.Log10(v) - s.low) / (s.high - s.low) }

func (s scale) decades() (all []float64) {
	for d := s.low; d <= s.high; d++ {
		all = append(all, math.Pow(10, d))
	}
	return all
}

func (p panel) draw(to *strings.Builder, all []measured, left float64) {
	var xs, ys []float64
	for _, m := range all {
		xs, ys = append(xs, float64(m.total())), append(ys, p.of(m))
	}
	across, up := scaleOf(xs), scaleOf(ys)
	x := func(v float64) float64 { return left + marginLeft + across.at(v)*(panelWidth-20) }
	y := func(v float64) float64 { return marginTop + (1-up.at(v))*panelHeight }
	fmt.Fprintf(to, "<text x=\"%.1f\" y=\"20\" font-weight=\"bold\">%s</text>\n", left+marginLeft, p.title)
	for _, d := range across.decades() {
		fmt.Fprintf(to, "<path d=\"M%.1f %.1fv%.1f\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			x(d), marginTop, panelHeight, x(d), marginTop+panelHeight+16, power(d))
	}
	for _, d := range up.decades() {
		fmt.Fprintf(to, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			left+marginLeft, y(d), panelWidth-20, left+marginLeft-6, y(d)+4, short(d))
	}
	fmt.Fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">samples</text>\n", left+marginLeft+panelWidth/2, marginTop+panelHeight+34)
	for i, m := range all {
		fmt.Fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1f6feb\"/><text x=\"%.1f\" y=\"%.1f\" fill=\"#555\">%d</text>\n",
			x(xs[i]), y(ys[i]), x(xs[i])+6, y(ys[i])-5, m.runners)
	}
}

// power writes a power of ten; it uses words from one million on.
func power(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%g billion", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%g million", v/1e6)
	}
	return short(v)
}

func short(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%g", v)
	}
	return format.Count(int64(v))
}
