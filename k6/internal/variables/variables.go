// SPDX-License-Identifier: AGPL-3.0-only

// Package variables has every variable that a user may set. k6/lists/variables.json is the only registry. Values are
// checked by it, here and in scripts (lib/variables.js); `make help` and docs/reference/variables.md are generated from it.
package variables

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/lists"
)

// Unit is the unit or the type of a value.
type Unit string

// The units. Those before Duration apply to numbers.
const (
	Count       Unit = "count"
	Seconds     Unit = "s"
	Millis      Unit = "ms"
	Minutes     Unit = "min"
	Bytes       Unit = "bytes"
	Mebibytes   Unit = "MiB"
	PerSecond   Unit = "1/s"
	MbitPerS    Unit = "Mbit/s"
	Ratio       Unit = "ratio"    // multiple of another value.
	Share       Unit = "share"    // 0 to 1.
	Percent     Unit = "percent"  // 0 to 100.
	Duration    Unit = "duration" // such as 90s, 5m or 1h; Most is in seconds.
	Choice      Unit = "choice"   // one of Choices.
	List        Unit = "list"     // separated by commas; each item is one of Choices, or a whole number with Least and Most.
	Flag        Unit = "flag"     // any non-empty value means yes.
	Text        Unit = "text"
	Path        Unit = "path"
	URL         Unit = "url"
	SecretValue Unit = "secret"
)

var numbers = []Unit{Count, Seconds, Millis, Minutes, Bytes, Mebibytes, PerSecond, MbitPerS, Ratio, Share, Percent}

// Variable is an entry of the registry.
type Variable struct {
	Name string `json:"name"`
	// What describes the variable, as text after a colon.
	What     string   `json:"what"`
	Unit     Unit     `json:"unit"`
	Choices  []string `json:"choices"`
	Fraction bool     `json:"fraction"` // the number may have a fraction
	// The range of a number: from Least to Most, or above Above.
	Least *float64 `json:"least"`
	Above *float64 `json:"above"`
	Most  *float64 `json:"most"`
	// Default is a number or a text, or one for each of several SYSTEM/SCENARIO or systems. Nil means no default, or the
	// one in DefaultBy.
	Default any `json:"default"`
	// DefaultBy says what the default depends on, if it is defined elsewhere: profile, scenario, environment, testbed,
	// row (of the protocol matrix), baseline, or target (of make).
	DefaultBy []string `json:"default_by"`
	// Of lists the systems, or SYSTEM/SCENARIO, that read the variable; * means all, make means the Makefile and its
	// scripts.
	Of []string `json:"of"`
	// Flags are our commands that have the variable as a flag, each with the flag's group in its help: "" for other flags.
	Flags map[string]string `json:"flags"`
	// Docs is the page of docs/ with details.
	Docs string `json:"docs"`

	raw json.RawMessage
}

// All has the variables by name.
var All = read(lists.Variables)

func read(data []byte) (all []Variable) {
	for _, entry := range lists.Read[[]json.RawMessage](data) {
		v := Variable{raw: entry}
		if err := document.Strictly(entry, &v); err != nil {
			panic(fmt.Sprintf("variables.json: %s: %v", entry, err))
		}
		all = append(all, v)
	}
	return all
}

// Find returns the variable with a name, nil if it is not in the registry.
func Find(name string) *Variable {
	i := slices.IndexFunc(All, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &All[i]
}

// Entry is the registry's entry of a variable as JSON, "" if there is none.
func Entry(name string) string {
	if v := Find(name); v != nil {
		return string(v.raw)
	}
	return ""
}

// Default is the default, as text, of a variable with one default everywhere.
func Default(name string) string { return fmt.Sprint(Find(name).Default) }

// DefaultNumber is the default of a number.
func DefaultNumber(name string) float64 { return Find(name).Default.(float64) }

// Most is the largest valid value of a number.
func Most(name string) int { return int(*Find(name).Most) }

// defaultOf is the default in a scenario, nil if it is defined elsewhere or there is none.
func (v Variable) defaultOf(scenario string) any {
	byScenario, ok := v.Default.(map[string]any)
	if !ok {
		return v.Default
	}
	if value, ok := byScenario[scenario]; ok {
		return value
	}
	return byScenario[systemOf(scenario)]
}

func systemOf(scenario string) string {
	system, _, _ := strings.Cut(scenario, "/")
	return system
}

// ReadBy reports whether a scenario, SYSTEM/SCENARIO, reads a variable.
func ReadBy(name, scenario string) bool {
	v := Find(name)
	return v != nil && v.readBy(scenario)
}

// readBy reports whether one of the scenarios, SYSTEM/SCENARIO, reads the variable.
func (v Variable) readBy(scenarios ...string) bool {
	return slices.ContainsFunc(v.Of, func(of string) bool {
		return of == "*" || slices.ContainsFunc(scenarios, func(scenario string) bool {
			return of == scenario || of == systemOf(scenario)
		})
	})
}

// Scenarios returns the scenarios in the registry, as SYSTEM/SCENARIO, sorted. A user's own scripts are not among them.
func Scenarios() []string {
	readers := seq.Flat(All, func(v Variable) []string { return v.Of })
	names := seq.Filter(readers, func(of string) bool { return strings.Contains(of, "/") })
	slices.Sort(names)
	return slices.Compact(names)
}
