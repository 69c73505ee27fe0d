// SPDX-License-Identifier: AGPL-3.0-only

package format

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

var boundPattern = regexp.MustCompile(`[<>=]=?=?\s*([-+0-9.eE]+)\s*$`)

// Bound returns the number that a threshold's expression compares with; false where it has none.
func Bound(expression string) (bound float64, ok bool) {
	match := boundPattern.FindStringSubmatch(expression)
	if match == nil {
		return 0, false
	}
	bound, err := strconv.ParseFloat(match[1], 64)
	return bound, err == nil
}

// Threshold writes a threshold's value in its unit as Value does, with as many more digits as it
// takes to see on which side of the expression's bound it lies.
func Threshold(v *float64, unit, expression string) string {
	text := Value(v, unit)
	bound, ok := Bound(expression)
	if v == nil || !ok {
		return text
	}
	number, suffix, scaled, exponent := text, suffixes[unit], *v, ""
	if unit == "share" {
		scaled, exponent = *v*100, "e-2"
	}
	number = strings.TrimSuffix(number, suffix)
	_, fraction, _ := strings.Cut(number, ".")
	for digits := len(fraction) + 1; digits <= 18; digits++ {
		shown, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", "")+exponent, 64)
		if err == nil && cmp.Compare(shown, bound) == cmp.Compare(*v, bound) {
			return number + suffix
		}
		number = thousands(strconv.FormatFloat(scaled, 'f', digits, 64))
	}
	return text
}

var suffixes = map[string]string{"ms": " ms", "share": "%", "per_s": "/s"}
