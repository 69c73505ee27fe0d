// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Help lists the variables by group, for a terminal.
func Help() string {
	var b strings.Builder
	b.WriteString("  Variables, as in `make bench RATE=500`; docs/reference/variables.md has their units and bounds.\n")
	for _, g := range groups() {
		fmt.Fprintf(&b, "\n  Of %s:\n", g.title)
		for _, v := range g.variables() {
			fmt.Fprintf(&b, "  %-22s %s\n", v.Name, g.describe(v))
		}
	}
	return b.String()
}

// describe describes a variable: its meaning, its default, and the scenarios that read it if not all of the group do.
func (g group) describe(v Variable) string {
	text := v.What
	if v.Unit == Choice {
		text += ": " + strings.Join(v.Choices, ", ")
	}
	if defaults := g.defaults(v); defaults != "" {
		text += " (" + defaults + ")"
	}
	// The text of several defaults already names the scenarios.
	if names := g.scenarios(v); names != nil && !strings.HasPrefix(g.defaults(v), names[0]+" ") {
		text += " [" + strings.Join(names, ", ") + "]"
	}
	return text
}

// tables lists the variables as Markdown tables for docs/reference/variables.md. A variable of several groups is in one table.
func tables() string {
	var b strings.Builder
	readers := map[string][]group{}
	for _, g := range groups() {
		for _, v := range g.variables() {
			readers[v.Name] = append(readers[v.Name], g)
		}
	}
	table := func(title string, reads bool, holds func([]group) bool) {
		heads := []string{"variable", "what", "value", "default"}
		if reads {
			heads = append(heads, "read by")
		}
		fmt.Fprintf(&b, "### Of %s\n\n| %s |\n|%s\n", title, strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
		for _, v := range All {
			if of := readers[v.Name]; holds(of) {
				b.WriteString(row(v, of, reads))
			}
		}
		b.WriteString("\n")
	}
	for i, g := range groups() {
		table(g.title, g.isSystem(), func(of []group) bool { return len(of) == 1 && of[0] == g })
		if i == 0 {
			table("several systems", true, func(of []group) bool { return len(of) > 1 })
		}
	}
	return b.String()
}

// The files generated from the registry: one for `make help`, which runs before anything is built, and a part of a page.
const (
	helpFile = "k6/lists/variables.txt"
	page     = "docs/reference/variables.md"
	begin    = "<!-- `make variables` writes from here -->\n\n"
	end      = "<!-- to here -->\n"
)

// Made returns the contents of a checkout's files that are generated from the registry, by path.
func Made(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	head, rest, began := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !began || !ended {
		return nil, errors.New(page + ": the marker lines around the variables are missing")
	}
	return map[string]string{helpFile: Help(), page: head + begin + tables() + end + tail}, nil
}
