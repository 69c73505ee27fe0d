// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/seq"
)

// unknownMost bounds the numbers in variables that are not in the registry.
const unknownMost = 10_000_000

// Rules for a script's variables that are not in the registry.
var (
	scriptCount  = Variable{Unit: Count, Least: pointer(1), Most: pointer(unknownMost)}
	scriptNumber = Variable{Unit: Ratio, Fraction: true, Above: pointer(0), Most: pointer(unknownMost)}
)

func pointer(value float64) *float64 { return &value }

// Wrong is a line about what is wrong with a variable's value, "" if it is valid. For a variable that is not in the
// registry, whole says whether the number must be whole.
func Wrong(name, text string, whole bool) string {
	v := Find(name)
	if v == nil {
		rule := scriptNumber
		if whole {
			rule = scriptCount
		}
		v = &rule
	}
	if why := v.Wrong(text); why != "" {
		return fmt.Sprintf("%s=%s: %s", name, text, why)
	}
	return ""
}

// Number is the value of a number that Wrong has accepted, or its default if the text is empty.
func Number(name, text string) float64 {
	if value, ok := numberOf(text); ok {
		return value
	}
	return DefaultNumber(name)
}

// WrongValues returns a line for each variable that the scenarios read whose value is out of bounds.
func WrongValues(environ, scenarios []string) (lines []string) {
	for _, v := range All {
		text := In(environ, v.Name)
		if text == "" || !v.readBy(scenarios...) {
			continue
		}
		if line := Wrong(v.Name, text, false); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Without is an environment without some variables.
func Without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}

// In is a variable's value in the environment; the last entry counts. It is "" if not set.
func In(environ []string, name string) (value string) {
	for _, pair := range environ {
		if text, ok := strings.CutPrefix(pair, name+"="); ok {
			value = text
		}
	}
	return value
}

// Wrong says what is wrong with a value, "" if it is valid.
func (v Variable) Wrong(text string) string {
	switch {
	case slices.Contains(numbers, v.Unit):
		return v.wrongNumber(text)
	case v.Unit == Choice && !slices.Contains(v.Choices, text):
		return "choose one of " + strings.Join(v.Choices, ", ")
	case v.Unit == List:
		return v.wrongList(text)
	case v.Unit == Duration:
		return v.wrongDuration(text)
	}
	return ""
}

// aNumber matches numbers that both Go and JavaScript accept.
var aNumber = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

func numberOf(text string) (value float64, ok bool) {
	text = strings.TrimSpace(text)
	if !aNumber.MatchString(text) {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

func (v Variable) wrongNumber(text string) string {
	value, ok := numberOf(text)
	switch {
	case ok && value > *v.Most:
		return "at most " + v.withUnit(*v.Most)
	case v.Above != nil && !(ok && value > *v.Above):
		return fmt.Sprintf("a number above %s is wanted", grouped(*v.Above))
	case v.Above != nil:
		return ""
	case ok && value >= *v.Least && (v.Fraction || value == math.Trunc(value)):
		return ""
	}
	kind := "a whole number"
	if v.Fraction {
		kind = "a number"
	}
	return fmt.Sprintf("%s from %s to %s is wanted", kind, grouped(*v.Least), v.withUnit(*v.Most))
}

// withUnit writes a number, with its unit if that is a unit of time or size.
func (v Variable) withUnit(value float64) string {
	if slices.Contains([]Unit{Seconds, Millis, Minutes, Bytes, Mebibytes}, v.Unit) {
		return grouped(value) + " " + string(v.Unit)
	}
	return grouped(value)
}

func (v Variable) wrongList(text string) string {
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	once := len(slices.Compact(slices.Sorted(slices.Values(items)))) == len(items)
	switch {
	case v.Choices != nil:
		odd := func(item string) bool { return !slices.Contains(v.Choices, item) }
		if !once || slices.ContainsFunc(items, odd) {
			return fmt.Sprintf("choose from %s, each once", strings.Join(v.Choices, ", "))
		}
	case v.Most != nil:
		odd := func(item string) bool {
			value, ok := numberOf(item)
			return !ok || value < *v.Least || value > *v.Most || value != math.Trunc(value)
		}
		if !once || slices.ContainsFunc(items, odd) {
			return fmt.Sprintf("different whole numbers from %s to %s are wanted, with commas between them", grouped(*v.Least), grouped(*v.Most))
		}
	}
	return ""
}

var aDuration = regexp.MustCompile(`^(\d+(?:\.\d+)?)([smh]?)$`)

func (v Variable) wrongDuration(text string) string {
	found := aDuration.FindStringSubmatch(text)
	if found != nil {
		seconds, err := strconv.ParseFloat(found[1], 64)
		seconds *= map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]
		if err == nil && seconds > 0 && seconds <= *v.Most {
			return ""
		}
	}
	return fmt.Sprintf("write it as 90s, 5m or 1h, at most %sh", grouped(*v.Most/3600))
}

// grouped writes a whole number with commas between its thousands, other numbers unchanged.
func grouped(value float64) string {
	if value == math.Trunc(value) {
		return format.Count(int64(value))
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// The groups of flags that not every comparison takes: flags of two builds, and flags for the judgement of scenarios.
const (
	OfBuilds  = "Sides that are built before"
	OfJudging = "How long, and how much worse"
)

// OfCommand returns the variables that are flags of a command, by name.
func OfCommand(name string) []Variable {
	return seq.Filter(All, func(v Variable) bool {
		_, is := v.Flags[name]
		return is
	})
}

// GivenTo returns an environment's values of the variables that are flags of a command, by name. line says what is wrong with the first
// wrong value.
func GivenTo(command string, environ []string) (given map[string]string, line string) {
	given = map[string]string{}
	for _, v := range OfCommand(command) {
		if given[v.Name] = In(environ, v.Name); given[v.Name] != "" && line == "" {
			line = Wrong(v.Name, given[v.Name], false)
		}
	}
	return given, line
}

// FlagName is the name of the flag that sets a variable: RUN_ID is run-id.
func FlagName(variable string) string {
	return strings.ReplaceAll(strings.ToLower(variable), "_", "-")
}

// Explain says what a variable is, as the help of its flag: with its choices, but without its default.
func Explain(name string) string {
	v := Find(name)
	if v.Unit == Choice {
		return v.What + ": " + strings.Join(v.Choices, ", ")
	}
	return v.What
}
