// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"strconv"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

func sectionTable(s result.Section) Table {
	t := Table{Title: s.Title, Finding: s.Finding, Notes: s.Notes, State: -1}
	var printed []int
	numbers := map[int]bool{}
	for i, c := range s.Columns {
		if c.Print == result.PrintNone {
			continue
		}
		if c.Unit == "ok" && t.State < 0 {
			t.State = len(printed)
		}
		if unitOf(c).numeric {
			numbers[len(printed)] = true
		}
		printed = append(printed, i)
		t.Head = append(t.Head, head(c))
	}
	if len(numbers) > 0 {
		t.Numbers = func(column int) bool { return numbers[column] }
	}
	for _, row := range s.Rows {
		cells := seq.Map(printed, func(i int) string { return cellText(s.Columns[i], row[i]) })
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// unit says how to write numbers in a unit.
type unit struct {
	write   func(*float64) string
	numeric bool // in a right-aligned column
	inTitle bool // the unit follows the column's title
}

// units are the units with special formatting.
var units = map[string]unit{
	"text":   {write: func(v *float64) string { return format.Any(*v) }},
	"ok":     {write: func(v *float64) string { return format.Any(*v) }},
	"count":  {write: func(v *float64) string { return format.Count(int64(*v)) }, numeric: true},
	"share":  {write: format.Share, numeric: true},
	"per_s":  {write: format.Rate, numeric: true},
	"times":  {write: func(v *float64) string { return fmt.Sprintf("%.1f ×", *v) }, numeric: true},
	"ratio":  {write: func(v *float64) string { return multiple(*v) }},
	"x":      {write: func(v *float64) string { return format.Digits(*v) }, numeric: true},
	"ns":     {write: func(v *float64) string { return format.Nanoseconds(*v) }, numeric: true},
	"B/s":    {write: func(v *float64) string { return format.BytesPerS(*v) }, numeric: true},
	"B":      {write: func(v *float64) string { return format.Bytes(int64(*v)) }, numeric: true},
	"ms":     {write: format.MS, numeric: true, inTitle: true},
	"Mbit/s": {write: format.Mbit, numeric: true, inTitle: true},
	"MiB":    {write: func(v *float64) string { return format.MiB(int64(*v * (1 << 20))) }, numeric: true, inTitle: true},
}

// unitOf is a column's unit; a unit without special formatting has one decimal.
func unitOf(c result.Column) unit {
	u, known := units[c.Unit]
	if !known {
		u = unit{write: fixed(1), numeric: true, inTitle: true}
	}
	if c.Digits != nil {
		u.write = fixed(*c.Digits)
	}
	return u
}

func fixed(digits int) func(*float64) string {
	return func(v *float64) string { return strconv.FormatFloat(*v, 'f', digits, 64) }
}

func head(c result.Column) string {
	if unitOf(c).inTitle {
		return c.Title + " (" + c.Unit + ")"
	}
	return c.Title
}

func cellText(c result.Column, cell result.Cell) string {
	switch {
	case cell.Text != nil:
		return *cell.Text
	case cell.OK != nil:
		return tick(cell.OK)
	case cell.Value == nil && c.Unit == "ok":
		return tickUnknown
	case cell.Value == nil:
		return format.None
	case cell.Range == nil || c.Print == result.PrintValue:
		return unitOf(c).write(cell.Value)
	case c.Unit == "ratio":
		return ratio(cell)
	}
	return ranged(cell, unitOf(c).write)
}

// ranged is `median (min–max)`, or the median alone if all are equal.
func ranged(cell result.Cell, write func(*float64) string) string {
	value := write(cell.Value)
	if cell.Range.Low == nil || cell.Range.High == nil {
		return value
	}
	low, high := write(cell.Range.Low), write(cell.Range.High)
	if low == high {
		return value
	}
	return fmt.Sprintf("%s (%s–%s)", value, low, high)
}

// ratio is `97 % (91–104 %)`, with an asterisk if it differs significantly from 100 %.
func ratio(cell result.Cell) string {
	text := multiple(*cell.Value)
	switch low, high := cell.Range.Low, cell.Range.High; {
	case low == nil || high == nil:
	case *high >= manyTimes:
		text += fmt.Sprintf(" (%s–%s)", multiple(*low), multiple(*high))
	default:
		text += fmt.Sprintf(" (%.0f–%s)", *low*100, percent(*high))
	}
	if cell.Range.Significant {
		text += " *"
	}
	return text
}

// manyTimes is the ratio from which on a factor is clearer than percent.
const manyTimes = 10.0

// multiple is `97 %`, or `577 ×` for a large ratio.
func multiple(ratio float64) string {
	if ratio >= manyTimes {
		return fmt.Sprintf("%.0f ×", ratio)
	}
	return percent(ratio)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }
