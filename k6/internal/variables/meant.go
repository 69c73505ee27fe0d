// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
)

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
// ours. "" where none is.
func Misspelt(environ []string) string {
	for _, word := range aWord.FindAllString(valueIn(environ, "MAKEFLAGS"), -1) {
		if found := ofAWord.FindStringSubmatch(word); found != nil {
			if line := noSuch(found[1]); line != "" {
				return line
			}
		}
	}
	return ""
}

// MisspeltFlag is the same for one that k6 was given by -e NAME=VALUE.
func MisspeltFlag(args []string) string {
	for i, arg := range args {
		pair, is := "", false
		switch {
		case arg == "--":
			return ""
		case arg == "-e" || arg == "--env":
			if i+1 < len(args) {
				pair, is = args[i+1], true
			}
		case strings.HasPrefix(arg, "--env="):
			pair, is = strings.TrimPrefix(arg, "--env="), true
		case strings.HasPrefix(arg, "-e"):
			pair, is = strings.TrimPrefix(strings.TrimPrefix(arg, "-e"), "="), true
		}
		if name, _, _ := strings.Cut(pair, "="); is {
			if line := noSuch(name); line != "" {
				return line
			}
		}
	}
	return ""
}

// noSuch is a line for a name of which a quarter of the letters at most differ from one of ours.
func noSuch(name string) string {
	meant := meant(name, len(name)/4, nil)
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("%s: no such variable; did you mean %s? docs/reference/variables.md lists them", name, meant)
}

// Near is a line for each variable of the environment that differs from one of ours by a letter, or by two that are swapped:
// much there is somebody else's, so that it is told, and not refused. Names that the caller's own files name are exempt.
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
	if len(name) < shortest || Find(name) != nil || slices.Contains(exempt, name) || slices.Contains(others, name) {
		return ""
	}
	ours := make([]string, len(All))
	for i, v := range All {
		ours[i] = v.Name
	}
	return closest.Within(name, ours, most)
}

// Unread is a line that names the variables that none of the scenarios reads, as SYSTEM/SCENARIO; "" where there is none, or
// where one of the scenarios is the user's own, which may read any.
func Unread(environ, scenarios []string) string {
	known := Scenarios()
	if slices.ContainsFunc(scenarios, func(name string) bool { return !slices.Contains(known, name) }) {
		return ""
	}
	var lines []string
	for _, v := range All {
		if valueIn(environ, v.Name) != "" && !v.staysSet() && !v.readBy(scenarios...) {
			lines = append(lines, fmt.Sprintf("%s (of %s)", v.Name, strings.Join(v.Of, ", ")))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "not used by what runs: " + strings.Join(lines, ", ")
}

// staysSet reports whether it says where a system is and who signs in there, such as PULSAR_URL: that is set for good, and
// not for a run.
func (v Variable) staysSet() bool {
	return slices.ContainsFunc(v.Of, func(of string) bool { return strings.HasPrefix(v.Name, strings.ToUpper(of)+"_") })
}
