// SPDX-License-Identifier: AGPL-3.0-only

package comment

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/seq"
)

// writer accepts text up to the size limit.
type writer struct{ strings.Builder }

// add writes a text if it fits and leaves room for the ends.
func (w *writer) add(text string) bool {
	if w.Len()+len(text) > Most-ends {
		return false
	}
	w.WriteString(text)
	return true
}

// end writes a short line into the reserved room.
func (w *writer) end(text string) { w.WriteString(text) }

// list writes a bullet for each line that fits, and the number of the others.
func (w *writer) list(lines []string) {
	for i, line := range lines {
		if !w.add("- " + markdown.InertLine(cut(line, mostText)) + "\n") {
			w.end(fmt.Sprintf("- and %d more lines in the report of the run\n", len(lines)-i))
			break
		}
	}
	if len(lines) > 0 {
		w.end("\n")
	}
}

// table writes the rows that fit, and the number of the others.
func (w *writer) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	rule := ""
	for i := range t.Head {
		if t.Numeric != nil && t.Numeric(i) {
			rule += "|---:"
		} else {
			rule += "|---"
		}
	}
	if !w.add(row(Cells([][]string{t.Head})[0]) + rule + "|\n") {
		return
	}
	left := 0
	for i, cells := range t.Rows {
		if !w.add(row(cells)) {
			left = len(t.Rows) - i
			break
		}
	}
	w.end("\n")
	if left > 0 {
		w.end(fmt.Sprintf("%d more rows are in the report of the run.\n\n", left))
	}
}

func row(cells []Cell) string {
	var b strings.Builder
	for _, cell := range cells {
		lines := seq.Map(cell, func(line string) string { return markdown.Inert(cut(line, mostCell)) })
		b.WriteString("| " + strings.Join(lines, "<br>") + " ")
	}
	return b.String() + "|\n"
}

// fold writes a fold; it returns false if not even the title fits.
func (w *writer) fold(f Fold) bool {
	if len(f.Lines)+len(f.Table.Rows) == 0 {
		return true
	}
	if !w.add("<details><summary>" + markdown.Inert(cut(f.Title, mostCell)) + "</summary>\n\n") {
		return false
	}
	w.list(f.Lines)
	w.table(f.Table)
	w.end("</details>\n\n")
	return true
}
