// SPDX-License-Identifier: AGPL-3.0-only

// Package markdown writes GitHub-flavoured Markdown in which text cannot become markup.
package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// List writes a bullet for each line, and an empty line after them.
func List(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", Escape(line))
	}
	if len(lines) > 0 {
		b.WriteByte('\n')
	}
}

// Table writes a table and an empty line, or nothing without rows. Columns of numbers are right-aligned.
func Table(b *strings.Builder, head []string, rows [][]string, numeric func(column int) bool) {
	if len(rows) == 0 {
		return
	}
	cells := func(row []string) {
		for _, cell := range row {
			b.WriteString("| " + Escape(cell) + " ")
		}
		b.WriteString("|\n")
	}
	cells(head)
	for i := range head {
		if numeric(i) {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, row := range rows {
		cells(row)
	}
	b.WriteByte('\n')
}

// special are the characters that Markdown interprets within a line or a table.
const special = "\\`*_[]<>|&~#$"

// Escape makes text plain in Markdown: one line, without formatting or HTML. An underscore or a hash within a word needs
// no escape.
func Escape(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	var b strings.Builder
	for i, r := range runes {
		inWord := i > 0 && i < len(runes)-1 && isWord(runes[i-1]) && isWord(runes[i+1])
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case (r == '_' || r == '#') && inWord:
			b.WriteRune(r)
		case strings.ContainsRune(special, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
