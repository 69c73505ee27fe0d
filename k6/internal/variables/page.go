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
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n  Of %s:\n", g.Title)
		for _, v := range g.Variables() {
			fmt.Fprintf(&b, "  %-22s %s\n", v.Name, g.describe(v))
		}
	}
	return b.String()
}

// describe describes a variable: its meaning, its default, and the scenarios that read it if not all of the group do.
func (g Group) describe(v Variable) string {
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

// tables lists the variables as Markdown tables for docs/reference/variables.md. A variable that several groups read is
// listed once.
func tables() string {
	var b strings.Builder
	readers := map[string][]Group{}
	for _, g := range Groups() {
		for _, v := range g.Variables() {
			readers[v.Name] = append(readers[v.Name], g)
		}
	}
	table := func(title string, reads bool, holds func([]Group) bool) {
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
	for i, g := range Groups() {
		table(g.Title, g.isSystem(), func(of []Group) bool { return len(of) == 1 && of[0] == g })
		if i == 0 {
			table("several systems", true, func(of []Group) bool { return len(of) > 1 })
		}
	}
	return b.String()
}

// isSystem reports whether the group is a system, which has scenarios.
func (g Group) isSystem() bool { return g.of != "*" && g.of != "make" }

func row(v Variable, of []Group, reads bool) string {
	name := "`" + v.Name + "`"
	if v.Docs != "" {
		name = fmt.Sprintf("[%s](../%s)", name, v.Docs)
	}
	cells := []string{name, v.What, value(v, of), cell(v, of, Group.defaults)}
	if reads {
		cells = append(cells, readBy(v, of))
	}
	return fmt.Sprintf("| %s |\n", strings.ReplaceAll(strings.Join(cells, " | "), "*", `\*`))
}

// value is what a variable may be: its choices, or its unit with its bounds.
func value(v Variable, of []Group) string {
	bounds := cell(v, of, Group.bounds)
	switch {
	case v.Unit == Choice:
		return bounds
	case bounds == "":
		return string(v.Unit)
	}
	return string(v.Unit) + ", " + bounds
}

// cell is what all groups have, or each value with the groups that have it.
func cell(v Variable, of []Group, text func(Group, Variable) string) string {
	var values []string
	names := map[string][]string{}
	for _, g := range of {
		value := text(g, v)
		if names[value] == nil {
			values = append(values, value)
		}
		names[value] = append(names[value], g.of)
	}
	if len(values) == 1 {
		return values[0]
	}
	var parts []string
	for _, value := range values {
		if value != "" {
			parts = append(parts, strings.Join(names[value], ", ")+": "+value)
		}
	}
	return strings.Join(parts, "; ")
}

// readBy names the groups that read a variable, where there are several, and the scenarios, where not all of a group do and the defaults
// do not name them.
func readBy(v Variable, of []Group) string {
	parts := make([]string, 0, len(of))
	for _, g := range of {
		scenarios := g.scenarios(v)
		names := strings.Join(scenarios, ", ")
		switch {
		case len(of) == 1 && names == "":
			names = "all"
		case len(of) > 1 && (names == "" || g.namesAll(v, scenarios)):
			names = g.of
		case len(of) > 1:
			names = g.of + " (" + names + ")"
		}
		parts = append(parts, names)
	}
	return strings.Join(parts, ", ")
}

// namesAll reports whether the group's defaults name all these scenarios.
func (g Group) namesAll(v Variable, scenarios []string) bool {
	defaults := g.defaults(v)
	return !slices.ContainsFunc(scenarios, func(name string) bool { return !strings.Contains(defaults, name+" ") })
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
