// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

// The charts' geometry, in SVG user units.
const (
	chartWidth = 480.0
	plotLeft   = 62.0
	plotRight  = 400.0 // the space to the right is for the value beside the mark
	rowHeight  = 19.0
	headHeight = 26.0
	mostShown  = 6 // operations or processes
)

// charts draws a result: percentiles, then rates and CPU, then its sections. Colours come from CSS classes of the page.
func charts(r *result.Result) []template.HTML {
	if r == nil {
		return nil
	}
	bars := barBlocks("Rate and CPU", block{"Rate: successful per second", rateBars(*r)}, block{"CPU: percent of one core", cpuBars(*r)})
	var all []template.HTML
	for _, svg := range append([]string{percentileChart(*r), bars}, sectionCharts(*r)...) {
		if svg != "" {
			all = append(all, template.HTML(svg)) // esc escaped all text in it
		}
	}
	return all
}

func esc(s string) string { return template.HTMLEscapeString(s) }

// logAxis maps milliseconds to x on a logarithmic scale over whole decades.
type logAxis struct{ low, high float64 } // powers of ten

func newLogAxis(least, most float64) logAxis {
	least = math.Max(least, 1e-3)
	most = math.Max(most, least)
	a := logAxis{math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))}
	if a.high == a.low {
		a.high++
	}
	return a
}

func (a logAxis) x(ms float64) float64 {
	at := (math.Log10(math.Max(ms, 1e-3)) - a.low) / (a.high - a.low)
	return plotLeft + math.Max(0, math.Min(1, at))*(plotRight-plotLeft)
}

type mark struct {
	name  string
	value float64
	class string
}

func marksOf(l *result.Latency) []mark {
	var marks []mark
	for _, p := range []struct {
		name  string
		value *float64
	}{{"P50", l.P50}, {"P90", l.P90}, {"P95", l.P95}, {"P99", l.P99}} {
		if p.value != nil {
			marks = append(marks, mark{p.name, *p.value, strings.ToLower(p.name)})
		}
	}
	return append(marks, mark{"max", l.Max, "max"})
}

// percentileChart shows each operation's percentiles as marks on a logarithmic axis, "" without percentiles.
func percentileChart(r result.Result) string {
	least, most := math.Inf(1), 0.0
	var drawn []result.Operation
	for _, op := range r.Operations {
		if op.LatencyMS == nil || len(drawn) == mostShown {
			continue
		}
		drawn = append(drawn, op)
		for _, m := range marksOf(op.LatencyMS) {
			least, most = math.Min(least, m.value), math.Max(most, m.value)
		}
	}
	if len(drawn) == 0 {
		return ""
	}
	axis := newLogAxis(least, most)
	var body strings.Builder
	y := 16.0
	var description []string
	for _, op := range drawn {
		y += headHeight
		fmt.Fprintf(&body, `<text class="label start" x="0" y="%.1f">%s</text>`, y-10, esc(format.Shorten(op.Title, 60)))
		for _, m := range marksOf(op.LatencyMS) {
			x, text := axis.x(m.value), format.MS(&m.value)
			middle := y + rowHeight/2
			fmt.Fprintf(&body, `<text class="label" x="%.1f" y="%.1f">%s</text>`, plotLeft-12, middle+4, m.name)
			fmt.Fprintf(&body, `<line class="stem" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, plotLeft, middle, x, middle)
			fmt.Fprintf(&body, `<circle class="%s" cx="%.1f" cy="%.1f" r="5.5"/>`, m.class, x, middle)
			fmt.Fprintf(&body, `<text class="value" x="%.1f" y="%.1f">%s</text>`, x+11, middle+4, text)
			description = append(description, m.name+" "+text)
			y += rowHeight
		}
	}
	var grid strings.Builder
	for d := axis.low; d <= axis.high; d++ {
		v := math.Pow(10, d)
		x := axis.x(v)
		fmt.Fprintf(&grid, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, 16+headHeight, x, y+2)
		fmt.Fprintf(&grid, `<text class="axis" x="%.1f" y="%.1f">%s</text>`, x, y+17, trimNumber(v))
	}
	fmt.Fprint(&grid, `<text class="head" x="0" y="12">Latency: milliseconds, logarithmic</text>`)
	return frame("Latency percentiles", "Latency in milliseconds: "+strings.Join(description, ", "), y+24, grid.String()+body.String())
}

func trimNumber(v float64) string {
	if v >= 1000 {
		return format.Count(int64(v))
	}
	return fmt.Sprintf("%g", v)
}

type bar struct {
	label, value, class string
	length              float64 // 0 to 1
}

type block struct {
	head string
	bars []bar
}

// barBlocks draws the blocks that have bars, "" if none has.
func barBlocks(title string, blocks ...block) string {
	var body strings.Builder
	var description []string
	y := -8.0
	for _, one := range blocks {
		if len(one.bars) == 0 {
			continue
		}
		y += headHeight
		fmt.Fprintf(&body, `<text class="head" x="0" y="%.1f">%s</text>`, y-10, esc(one.head))
		for _, b := range one.bars {
			width := math.Max(1, b.length*(chartWidth-80))
			fmt.Fprintf(&body, `<text class="label start" x="0" y="%.1f">%s</text>`, y+12, esc(format.Shorten(b.label, 70)))
			fmt.Fprintf(&body, `<rect class="%s" x="0" y="%.1f" width="%.1f" height="13" rx="3"/>`, b.class, y+18, width)
			fmt.Fprintf(&body, `<text class="value" x="%.1f" y="%.1f">%s</text>`, width+8, y+29, esc(b.value))
			description = append(description, b.label+" "+b.value)
			y += 40
		}
		y += 8
	}
	if len(description) == 0 {
		return ""
	}
	return frame(title, strings.Join(description, ", "), y+4, body.String())
}

func rateBars(r result.Result) []bar {
	most := 0.0
	var drawn []result.Operation
	for _, op := range r.Operations {
		if op.RatePerS != nil && len(drawn) < mostShown {
			drawn = append(drawn, op)
			most = math.Max(most, *op.RatePerS)
		}
	}
	return seq.Map(drawn, func(op result.Operation) bar {
		return bar{op.Title, format.Rate(op.RatePerS) + "/s", "rate", *op.RatePerS / math.Max(most, 1e-9)}
	})
}

func cpuBars(r result.Result) []bar {
	most := 100.0
	var drawn []result.Process
	for _, p := range r.Processes {
		if p.Role != "total" && len(drawn) < mostShown {
			drawn = append(drawn, p)
			most = math.Max(most, p.CPUPercent)
		}
	}
	return seq.Map(drawn, func(p result.Process) bar {
		return bar{p.Name + " (" + p.Role + ")", format.Percent(p.CPUPercent), "cpu " + esc(p.Role), p.CPUPercent / most}
	})
}

func frame(title, description string, height float64, body string) string {
	return framed("", chartWidth, title, description, height, body)
}

// wideFrame is the frame of a chart as wide as the page.
func wideFrame(width float64, title, description string, height float64, body string) string {
	return framed(` class="wide"`, width, title, description, height, body)
}

func framed(class string, width float64, title, description string, height float64, body string) string {
	return fmt.Sprintf(`<svg%s viewBox="0 0 %.0f %.0f" role="img" aria-label="%s"><title>%s</title>%s</svg>`,
		class, width, height, esc(title+". "+description), esc(title), body)
}
