// SPDX-License-Identifier: AGPL-3.0-only

// Package testbed knows what a testbed file declares: its variables and outputs. Starting it is
// the sidecar's.
package testbed

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/closest"
)

// Testbed is the part of a testbed file that other files refer to.
type Testbed struct {
	Name      string              `json:"name"`
	System    string              `json:"system"`
	Scenarios []string            `json:"scenarios"` // the only ones that it is for; none: all
	Variables map[string]Variable `json:"variables"`
	Outputs   map[string]string   `json:"outputs"`
	Sweep     *Sweep              `json:"sweep"`
}

// Sweep is what a sweep varies unless told otherwise: a declared variable and its values, where the variables of Only
// have theirs.
type Sweep struct {
	Variable string            `json:"variable"`
	Values   []any             `json:"values"`
	Only     map[string]string `json:"only"`
}

// Applies reports whether there is this sweep with such variables.
func (s Sweep) Applies(variables map[string]any) bool {
	for name, value := range s.Only {
		if variables[name] != value {
			return false
		}
	}
	return true
}

// List is the values with commas between, as the variable VALUES takes them.
func (s Sweep) List() string {
	texts := make([]string, len(s.Values))
	for i, value := range s.Values {
		texts[i] = fmt.Sprint(value)
	}
	return strings.Join(texts, ",")
}

// Variable is a declared variable, which must be given where Default is nil; Min and Max are for type integer, Choices for choice, Pattern
// (which the whole value must match) for string.
type Variable struct {
	Type    string       `json:"type"`
	Default any          `json:"default"`
	Min     *json.Number `json:"min"`
	Max     *json.Number `json:"max"`
	Choices []string     `json:"choices"`
	Pattern string       `json:"pattern"`
}

// Check returns what is wrong with a value for the variable, or "". A number is a json.Number or
// a float64.
func (v Variable) Check(value any) string {
	switch v.Type {
	case "boolean":
		if _, ok := value.(bool); !ok {
			return fmt.Sprintf("%s is not a boolean; give true or false", show(value))
		}
	case "integer":
		return v.checkInteger(value)
	case "port":
		if n, ok := integer(value); !ok || n < 0 || n > 65535 {
			return fmt.Sprintf("%s is not a port; give 0 (any free one) to 65535", show(value))
		}
	case "choice":
		if s, ok := value.(string); !ok || !slices.Contains(v.Choices, s) {
			return fmt.Sprintf("%s is not one of %s%s", show(value), strings.Join(v.Choices, ", "),
				closest.Hint(fmt.Sprint(value), v.Choices))
		}
	case "string":
		return v.checkString(value)
	case "path":
		return v.checkPath(value)
	}
	return ""
}

func (v Variable) checkInteger(value any) string {
	n, ok := integer(value)
	if !ok {
		return show(value) + " is not an integer"
	}
	if least, ok := bound(v.Min); ok && n < least {
		return fmt.Sprintf("%d is too small, the least is %d", n, least)
	}
	if most, ok := bound(v.Max); ok && n > most {
		return fmt.Sprintf("%d is too large, the most is %d", n, most)
	}
	return ""
}

func (v Variable) checkString(value any) string {
	s, ok := value.(string)
	if !ok {
		return show(value) + " is not a string"
	}
	if v.Pattern == "" {
		return ""
	}
	re, err := regexp.Compile("^(?:" + v.Pattern + ")$")
	if err == nil && !re.MatchString(s) {
		return fmt.Sprintf("%q does not match %s", s, v.Pattern)
	}
	return ""
}

func (v Variable) checkPath(value any) string {
	s, ok := value.(string)
	switch {
	case !ok:
		return show(value) + " is not a string"
	case filepath.IsAbs(s), s == "" && v.Default == "":
		return ""
	}
	return fmt.Sprintf("%q is not an absolute path", s)
}

// Missing returns what is wrong with a path that leads nowhere on this machine, or "": the default may.
func (v Variable) Missing(value any) string {
	s, ok := value.(string)
	if v.Type != "path" || !ok || s == "" || value == v.Default {
		return ""
	}
	if _, err := os.Stat(s); err != nil {
		return s + ": no such file"
	}
	return ""
}

// Parse reads a value from its text and returns what is wrong with it, or "".
func (v Variable) Parse(text string) (value any, wrong string) {
	switch v.Type {
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil || text != "true" && text != "false" {
			return nil, fmt.Sprintf("%s is not a boolean; give true or false", show(text))
		}
		return b, ""
	case "integer", "port":
		value = text
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			value = json.Number(text)
		}
	default:
		value = text
	}
	return value, v.Check(value)
}

// IsPort reports whether a variable is a port: one that differs says nothing about a system. Where
// the testbed file is unknown (t is the zero Testbed), the name tells.
func (t Testbed) IsPort(variable string) bool {
	if declared, ok := t.Variables[variable]; ok {
		return declared.Type == "port"
	}
	return strings.HasSuffix(variable, "port")
}

// Names returns the names of the variables, sorted.
func (t Testbed) Names() []string { return slices.Sorted(maps.Keys(t.Variables)) }

func bound(n *json.Number) (int64, bool) {
	if n == nil {
		return 0, false
	}
	return integer(*n)
}

func integer(value any) (int64, bool) {
	switch n := value.(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case float64:
		return int64(n), n == float64(int64(n))
	}
	return 0, false
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
