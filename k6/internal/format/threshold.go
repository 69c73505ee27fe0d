// SPDX-License-Identifier: AGPL-3.0-only

package format

import (
	"regexp"
	"strconv"
)

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
