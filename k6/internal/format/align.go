// SPDX-License-Identifier: AGPL-3.0-only

package format

import (
	"strings"
	"unicode/utf8"
)

// Align pads the cells of rows of equal length to columns, two spaces apart. Numbers are right-aligned, text is
// left-aligned. No line ends with spaces.
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
