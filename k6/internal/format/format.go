// SPDX-License-Identifier: AGPL-3.0-only

// Package format writes numbers for readers: only meaningful digits, commas between thousands, and a dash for a missing
// value.
package format

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// None stands for a missing value.
const None = "—"

// MS writes milliseconds: microseconds below 1, three significant digits up to 1,000, whole
// milliseconds above.
func MS(v *float64) string {
	if v == nil {
		return None
	}
	switch a := math.Abs(*v); {
	case a < 0.9995:
		return strconv.FormatFloat(*v, 'f', 3, 64)
	case a < 9.995:
		return strconv.FormatFloat(*v, 'f', 2, 64)
	case a < 99.95:
		return strconv.FormatFloat(*v, 'f', 1, 64)
	}
	return Thousands(strconv.FormatFloat(*v, 'f', 0, 64))
}

// SignedMS writes a difference in milliseconds, with its sign.
func SignedMS(v *float64) string {
	text := MS(v)
	if v != nil && *v > 0 {
		return "+" + text
	}
	return text
}

// Mbit writes megabits per second: three decimals below 10, none above 1,000.
func Mbit(v *float64) string {
	if v != nil && math.Abs(*v) < 9.9995 {
		return strconv.FormatFloat(*v, 'f', 3, 64)
	}
	return Rate(v)
}

// Rate writes a number per second: one decimal below 1,000, two below 10, none above.
func Rate(v *float64) string {
	if v == nil {
		return None
	}
	switch a := math.Abs(*v); {
	case a == 0:
		return "0"
	case a < 9.995:
		return strconv.FormatFloat(*v, 'f', 2, 64)
	case a < 999.95:
		return strconv.FormatFloat(*v, 'f', 1, 64)
	}
	return Thousands(strconv.FormatFloat(*v, 'f', 0, 64))
}

// Count writes a whole number.
func Count(n int64) string { return Thousands(strconv.FormatInt(n, 10)) }

// Plural is a number of things, such as 1 pair or 2 pairs.
func Plural(n int, noun string) string { return fmt.Sprintf("%d %s", n, Noun(n, noun)) }

// Noun is the singular for one thing, else the plural.
func Noun(n int, noun string) string {
	if n != 1 {
		return noun + "s"
	}
	return noun
}

// Success writes how many of a number succeeded, such as `500 (100%)`. The share is rounded down, so that 100% means
// all; a share above zero is never written as 0%.
func Success(success, requests int64) string {
	if requests <= 0 {
		return Count(success) + " (" + None + ")"
	}
	return Count(success) + " (" + shareDown(float64(success)/float64(requests), success == requests) + ")"
}

func shareDown(share float64, all bool) string {
	if all {
		return "100%"
	}
	hundredths := math.Floor(share*10000 + 1e-9)
	if hundredths == 0 && share > 0 {
		return "<0.01%"
	}
	hundredths = math.Min(hundredths, 9999)
	return strconv.FormatFloat(hundredths/100, 'f', -1, 64) + "%"
}

// Share writes a share, 0 to 1, as a percentage with up to two decimals.
func Share(v *float64) string {
	if v == nil {
		return None
	}
	if *v > 0 && *v < 0.0001 {
		return "<0.01%"
	}
	if *v < 1 && *v > 0.9999 {
		return "99.99%"
	}
	return strconv.FormatFloat(math.Round(*v*10000)/100, 'f', -1, 64) + "%"
}

// Value writes a threshold's value in its unit: ms, share, count or per_s.
func Value(v *float64, unit string) string {
	if v == nil {
		return None
	}
	switch unit {
	case "ms":
		return MS(v) + " ms"
	case "share":
		return Share(v)
	case "per_s":
		return Rate(v) + "/s"
	}
	if *v == math.Trunc(*v) {
		return Count(int64(*v))
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// Percent writes a percentage, given in percent.
func Percent(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + "%" }

// MiB writes bytes in MiB.
func MiB(bytes int64) string {
	v := float64(bytes) / (1 << 20)
	if v < 99.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Thousands(strconv.FormatFloat(v, 'f', 0, 64))
}

// GiB writes bytes in GiB with the unit.
func GiB(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', 1, 64) + " GiB"
}

// Seconds writes a duration in seconds with a unit.
func Seconds(s float64) string {
	switch {
	case s < 1:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	case s < 120:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	}
	return (time.Duration(s) * time.Second).String()
}

// Time writes a time in UTC to the second.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// Any writes a parameter: numbers with separators, other values unchanged.
func Any(v any) string {
	n, ok := v.(float64)
	switch {
	case v == nil:
		return None
	case ok && n == math.Trunc(n) && math.Abs(n) < 1e15:
		return Count(int64(n))
	}
	return Plain(v)
}

// Plain writes a value as a user types it: a number without separators and exponent.
func Plain(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Beside writes a number like MS, Rate or Share (the argument write), with enough digits to show on which side of a
// bound it lies.
func Beside(write func(*float64) string, value, bound float64) string {
	text := write(&value)
	number, percent := strings.CutSuffix(text, "%")
	scale, exponent, sign := 1.0, "", ""
	if percent {
		scale, exponent, sign = 100, "e-2", "%"
	}
	_, fraction, _ := strings.Cut(number, ".")
	for digits := len(fraction) + 1; digits <= 18; digits++ {
		read, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", "")+exponent, 64)
		if err == nil && cmp.Compare(read, bound) == cmp.Compare(value, bound) {
			return number + sign
		}
		number = Thousands(strconv.FormatFloat(value*scale, 'f', digits, 64))
	}
	return number + sign
}

// Thousands puts commas into the whole part of a decimal number.
func Thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, decimal := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimal {
		whole += "." + fraction
	}
	return sign + whole
}

var boundPattern = regexp.MustCompile(`[<>=]=?=?\s*([-+0-9.eE]+)\s*$`)

// Bound returns the number in a threshold's expression; false if it has no number.
func Bound(expression string) (bound float64, ok bool) {
	match := boundPattern.FindStringSubmatch(expression)
	if match == nil {
		return 0, false
	}
	bound, err := strconv.ParseFloat(match[1], 64)
	return bound, err == nil
}

// Shorten makes a text one line of at most this many characters; an ellipsis takes the place of what is cut.
func Shorten(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// Align pads the cells of rows of equal length to columns, two spaces apart. Numbers are right-aligned, text is
// left-aligned. Spaces at the end of a line are cut.
func Align(rows [][]string, numeric func(column int) bool) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for r, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if numeric(i) {
				cells[i] = pad + cell
			} else {
				cells[i] = cell + pad
			}
		}
		lines[r] = strings.TrimRight(strings.Join(cells, "  "), " ")
	}
	return lines
}

// Digits writes a number with three significant digits.
func Digits(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Nanoseconds returns text such as `2.06 µs`.
func Nanoseconds(ns float64) string {
	switch {
	case ns < 1e3:
		return Digits(ns) + " ns"
	case ns < 1e6:
		return Digits(ns/1e3) + " µs"
	case ns < 1e9:
		return Digits(ns/1e6) + " ms"
	}
	return Digits(ns/1e9) + " s"
}

// BytesPerS returns text such as `29.6 MiB/s`.
func BytesPerS(v float64) string {
	switch {
	case v >= 1<<30:
		return Digits(v/(1<<30)) + " GiB/s"
	case v >= 1<<20:
		return Digits(v/(1<<20)) + " MiB/s"
	case v >= 1<<10:
		return Digits(v/(1<<10)) + " KiB/s"
	}
	return Digits(v) + " B/s"
}

// Runs writes sorted numbers: several in a row as the first and the last of them, with a dash between.
func Runs(numbers []int, dash string) (written []string) {
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		run := strconv.Itoa(numbers[i])
		if last > i {
			run += dash + strconv.Itoa(numbers[last])
		}
		written = append(written, run)
		i = last + 1
	}
	return written
}

// Bytes returns text such as `64 KiB`, or `1460 B` if the size is no whole number of KiB.
func Bytes(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case bytes >= mib && bytes%mib == 0:
		return fmt.Sprintf("%d MiB", bytes/mib)
	case bytes >= kib && bytes%kib == 0:
		return fmt.Sprintf("%d KiB", bytes/kib)
	}
	return fmt.Sprintf("%d B", bytes)
}
