// SPDX-License-Identifier: AGPL-3.0-only

// Package variables knows every variable that a user may set: variables.json is the one list of them, which
// lib/variables.js reads as well.
package variables

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
)

//go:embed variables.json
var list []byte

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
	if err := json.Unmarshal(list, &all); err != nil {
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

// shortest is how many letters a name of the environment must have for us to think that it was meant for us.
const shortest = 5

var ofMake = regexp.MustCompile(`(?:^|\s)([A-Z][A-Z0-9_]*)=`)

// Misspelt is a line for a variable that was probably meant to be one of ours, "" where none is: given to make, of which
// MAKEFLAGS tells, any of which a third of the letters at most differ; of the environment, where much is somebody else's, one that differs by one letter.
// Names that the caller's own files name are exempt.
func Misspelt(environ, exempt []string) string {
	ours := names()
	foreign := func(name string) bool {
		return !slices.Contains(ours, name) && !slices.Contains(exempt, name) && !slices.Contains(others, name)
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if name == "MAKEFLAGS" {
			for _, found := range ofMake.FindAllStringSubmatch(value, -1) {
				if given := found[1]; foreign(given) {
					if meant := closest.Within(given, ours, len(given)/3); meant != "" {
						return unknown(given, meant)
					}
				}
			}
			continue
		}
		if value == "" || len(name) < shortest || name != strings.ToUpper(name) || !foreign(name) {
			continue
		}
		if meant := closest.Within(name, ours, 1); meant != "" {
			return unknown(name, meant)
		}
	}
	return ""
}

func unknown(name, meant string) string {
	return fmt.Sprintf("%s: no such variable; did you mean %s? docs/profiles.md lists them", name, meant)
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
		return of == "*" || of == "make" || slices.ContainsFunc(scenarios, func(scenario string) bool {
			system, _, _ := strings.Cut(scenario, "/")
			return of == scenario || of == system
		})
	})
}
