// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/seq"
)

// others are names of other programs that are similar to ours. ofOthers matches names of k6, make, compilers and shells.
var (
	others   = []string{"PAGER", "VERSION"}
	ofOthers = regexp.MustCompile(`^(K6|GO|CGO|CARGO|RUST|MAKE|LC|SSL|LD)|_PROXY$|FLAGS$|^(CC|CXX|AR|CI|PATH|HOME|SHELL|TMPDIR|TERM|LANG|USER|TZ)$`)
)

// shortest is the smallest number of letters in a name that may be a misspelt one of ours.
const shortest = 5

// aWord matches a word of MAKEFLAGS: make writes a backslash before a space in a value.
var (
	aWord   = regexp.MustCompile(`(?:\\.|\S)+`)
	ofAWord = regexp.MustCompile(`^([A-Z][A-Z0-9_]*):{0,2}=`)
)

// Misspelt is a line about a variable on make's command line that is probably a misspelt one of ours; "" without one.
func Misspelt(environ []string) string {
	for _, name := range ofMake(environ) {
		if line := noSuch(name); line != "" {
			return line
		}
	}
	return ""
}

// ofMake returns the names of the variables on make's command line, from MAKEFLAGS.
func ofMake(environ []string) (names []string) {
	for _, word := range aWord.FindAllString(In(environ, "MAKEFLAGS"), -1) {
		if found := ofAWord.FindStringSubmatch(word); found != nil {
			names = append(names, found[1])
		}
	}
	return names
}

// MisspeltFlag is the same for a variable on k6's command line, -e NAME=VALUE.
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

// noSuch is a line for a name if at most a quarter of its letters differ from one of ours.
func noSuch(name string) string {
	meant := meant(name, len(name)/4, nil)
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("%s: no such variable; did you mean %s? docs/reference/variables.md lists them", name, meant)
}

// Near returns a line for each variable of the environment that differs from one of ours by a letter, or by two swapped
// letters. This is a warning, no error, because many variables belong to other programs. Names in the caller's own files
// are exempt.
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

// meant is our variable that a name is similar to; "" if the name is one of ours, or known to be another program's.
func meant(name string, most int, exempt []string) string {
	if len(name) < shortest || Find(name) != nil || slices.Contains(exempt, name) || slices.Contains(others, name) {
		return ""
	}
	ours := seq.Map(All, func(v Variable) string { return v.Name })
	return closest.Within(name, ours, most)
}

// Unread is a line with the variables that none of the scenarios (SYSTEM/SCENARIO) reads: ours, and others on make's command
// line. It is "" if all are read, or if one of the scenarios is the user's own script, which may read any variable. Names
// in the caller's own files are exempt.
func Unread(environ, scenarios, exempt []string) string {
	known := Scenarios()
	if slices.ContainsFunc(scenarios, func(name string) bool { return !slices.Contains(known, name) }) {
		return ""
	}
	var lines []string
	for _, v := range All {
		if In(environ, v.Name) != "" && !v.staysSet() && !v.readBy(scenarios...) {
			lines = append(lines, fmt.Sprintf("%s (of %s)", v.Name, strings.Join(v.Of, ", ")))
		}
	}
	for _, name := range ofMake(environ) {
		if Find(name) == nil && !slices.Contains(exempt, name) && !ofOthers.MatchString(name) {
			lines = append(lines, name+" (no such variable)")
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "not used by what runs: " + strings.Join(lines, ", ")
}

// staysSet reports whether a variable describes a system's address or login, such as PULSAR_URL: users set it
// permanently, not for one run.
func (v Variable) staysSet() bool {
	return slices.ContainsFunc(v.Of, func(of string) bool { return strings.HasPrefix(v.Name, strings.ToUpper(of)+"_") })
}
