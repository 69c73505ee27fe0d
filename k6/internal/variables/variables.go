// SPDX-License-Identifier: AGPL-3.0-only

// Package variables knows every variable that a user may set. k6/lists/variables.json is the one registry of them: values
// are checked by it, here and in scripts (lib/variables.js), and `make help` and docs/reference/variables.md are made from it.
package variables

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/lists"
)

// Unit is what a value is, or is counted in.
type Unit string

// The units. Those before Duration are of numbers.
const (
	Count       Unit = "count"
	Seconds     Unit = "s"
	Millis      Unit = "ms"
	Minutes     Unit = "min"
	Bytes       Unit = "bytes"
	Mebibytes   Unit = "MiB"
	PerSecond   Unit = "1/s"
	Ratio       Unit = "ratio"    // times as much as something else
	Share       Unit = "share"    // of 1
	Percent     Unit = "percent"  // of 100
	Duration    Unit = "duration" // such as 90s, 5m or 1h; Most is in seconds
	Choice      Unit = "choice"   // one of Choices
	List        Unit = "list"     // with commas between; with Choices each is one of them, with Least and Most a whole number
	Flag        Unit = "flag"     // anything but nothing is yes
	Text        Unit = "text"
	Path        Unit = "path"
	URL         Unit = "url"
	SecretValue Unit = "secret"
)

var numbers = []Unit{Count, Seconds, Millis, Minutes, Bytes, Mebibytes, PerSecond, Ratio, Share, Percent}

// Variable is an entry of the registry.
type Variable struct {
	Name string `json:"name"`
	// What says what it is, as what comes behind a colon.
	What     string   `json:"what"`
	Unit     Unit     `json:"unit"`
	Choices  []string `json:"choices"`
	Fraction bool     `json:"fraction"` // a number need not be whole
	// A number is from Least to Most, or above Above.
	Least *float64 `json:"least"`
	Above *float64 `json:"above"`
	Most  *float64 `json:"most"`
	// Default is a number or a text, or one for each of several SYSTEM/SCENARIO or systems; nil: none, or as DefaultBy says.
	Default any `json:"default"`
	// DefaultBy is what the default depends on, where it is written elsewhere: profile, scenario, environment, testbed, row
	// (of the protocol matrix), baseline, or target (of make).
	DefaultBy []string `json:"default_by"`
	// Of are the systems, or SYSTEM/SCENARIO, that read it; * is all, make the Makefile and what it runs besides.
	Of []string `json:"of"`
	// Docs is the page of docs/ that says more.
	Docs string `json:"docs"`

	raw json.RawMessage
}

// All are the variables, by name.
var All = read(lists.Variables)

func read(data []byte) (all []Variable) {
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		panic(err) // embedded at build time
	}
	for _, entry := range entries {
		v := Variable{raw: entry}
		decoder := json.NewDecoder(bytes.NewReader(entry))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&v); err != nil {
			panic(fmt.Sprintf("variables.json: %s: %v", entry, err))
		}
		all = append(all, v)
	}
	return all
}

// Find is the variable of that name, nil where the registry has none.
func Find(name string) *Variable {
	i := slices.IndexFunc(All, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &All[i]
}

// Entry is the registry's entry of that name as JSON, "" where it has none.
func Entry(name string) string {
	if v := Find(name); v != nil {
		return string(v.raw)
	}
	return ""
}

// Default is the default of a variable that has the same everywhere, as text.
func Default(name string) string { return fmt.Sprint(Find(name).Default) }

// DefaultNumber is the same of a number.
func DefaultNumber(name string) float64 { return Find(name).Default.(float64) }

// Most is the most that a number may be.
func Most(name string) int { return int(*Find(name).Most) }

// defaultOf is the default in a scenario, nil where it is written elsewhere or there is none.
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

// ReadBy reports whether a scenario, as SYSTEM/SCENARIO, reads the variable of that name.
func ReadBy(name, scenario string) bool {
	v := Find(name)
	return v != nil && v.readBy(scenario)
}

// readBy reports whether one of the scenarios, as SYSTEM/SCENARIO, reads it.
func (v Variable) readBy(scenarios ...string) bool {
	return slices.ContainsFunc(v.Of, func(of string) bool {
		return of == "*" || slices.ContainsFunc(scenarios, func(scenario string) bool {
			return of == scenario || of == systemOf(scenario)
		})
	})
}

// Scenarios are those that the registry names, as SYSTEM/SCENARIO, sorted. A script of the user's own is none of them.
func Scenarios() (names []string) {
	for _, v := range All {
		for _, of := range v.Of {
			if strings.Contains(of, "/") && !slices.Contains(names, of) {
				names = append(names, of)
			}
		}
	}
	slices.Sort(names)
	return names
}
