// SPDX-License-Identifier: AGPL-3.0-only

// Package variables knows every variable that a user may set: k6/lists/variables.json is the one list of them, which
// lib/variables.js reads as well.
package variables

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/lists"
)

// Variable is one of the list.
type Variable struct {
	Name string  `json:"name"`
	What string  `json:"what"`
	Most float64 `json:"most"` // 0: see lib/variables.js
	// Of are the systems, or SYSTEM/SCENARIO, that read it; * is all, make only the Makefile.
	Of []string `json:"of"`
}

// All are the variables, by name.
var All = func() (all []Variable) {
	if err := json.Unmarshal(lists.Variables, &all); err != nil {
		panic(err)
	}
	return all
}()

func names() []string {
	all := make([]string, len(All))
	for i, v := range All {
		all[i] = v.Name
	}
	return all
}

// others are names near to ours that are somebody else's.
var others = []string{"PAGER", "VERSION"}

// shortest is how many letters a name must have for us to think that it was meant for us.
const shortest = 5

// aWord is one of MAKEFLAGS: make writes a backslash before a space that is part of a value.
var (
	aWord   = regexp.MustCompile(`(?:\\.|\S)+`)
	ofAWord = regexp.MustCompile(`^([A-Z][A-Z0-9_]*):{0,2}=`)
)

// Misspelt is a line for a variable that make was given, of which MAKEFLAGS tells, and that was probably meant to be one of
// ours: a quarter of its letters at most differ. "" where none is.
func Misspelt(environ []string) string {
	for _, pair := range environ {
		flags, ok := strings.CutPrefix(pair, "MAKEFLAGS=")
		if !ok {
			continue
		}
		for _, word := range aWord.FindAllString(flags, -1) {
			if found := ofAWord.FindStringSubmatch(word); found != nil {
				if meant := meant(found[1], len(found[1])/4, nil); meant != "" {
					return fmt.Sprintf("%s: no such variable; did you mean %s? docs/profiles.md lists them", found[1], meant)
				}
			}
		}
	}
	return ""
}

// Near is a line for each variable of the environment that differs from one of ours by a letter: much there is somebody
// else's, so that it is told, and not refused. Names that the caller's own files name are exempt.
func Near(environ, exempt []string) (lines []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || name != strings.ToUpper(name) {
			continue
		}
		if meant := meant(name, 1, exempt); meant != "" {
			lines = append(lines, fmt.Sprintf("%s is set, and nothing reads it; was %s meant?", name, meant))
		}
	}
	return lines
}

// meant is the variable of ours that a name is near to; "" where it is one of ours itself, or somebody else's.
func meant(name string, most int, exempt []string) string {
	ours := names()
	if len(name) < shortest || slices.Contains(ours, name) || slices.Contains(exempt, name) || slices.Contains(others, name) {
		return ""
	}
	return closest.Within(name, ours, most)
}

// Unread is a line that names the variables that none of the scenarios reads, as SYSTEM/SCENARIO; "" where there is none.
func Unread(environ, scenarios []string) string {
	var lines []string
	for _, v := range All {
		set := slices.ContainsFunc(environ, func(pair string) bool {
			name, value, _ := strings.Cut(pair, "=")
			return name == v.Name && value != ""
		})
		if set && !v.readBy(scenarios) {
			lines = append(lines, fmt.Sprintf("%s (of %s)", v.Name, strings.Join(v.Of, ", ")))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "not used by what runs: " + strings.Join(lines, ", ")
}

func (v Variable) readBy(scenarios []string) bool {
	return slices.ContainsFunc(v.Of, func(of string) bool {
		return of == "*" || slices.ContainsFunc(scenarios, func(scenario string) bool {
			system, _, _ := strings.Cut(scenario, "/")
			return of == scenario || of == system
		})
	})
}
