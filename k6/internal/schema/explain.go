// SPDX-License-Identifier: AGPL-3.0-only

package schema

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/seq"
)

// explainer converts the tree of a validation error to flat, readable problems.
type explainer struct {
	compiler *jsonschema.Compiler
	doc      any
	problems []Problem
}

func (e *explainer) add(at []string, format string, args ...any) {
	e.problems = append(e.problems, Problem{Field(at), fmt.Sprintf(format, args...)})
}

func (e *explainer) walk(v *jsonschema.ValidationError) {
	at := v.InstanceLocation
	switch k := v.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := e.properties(v.SchemaURL)
		for _, name := range k.Properties {
			e.add(append(slices.Clone(at), name), "unknown key; known here: %s%s",
				strings.Join(known, ", "), closest.Hint(name, known))
		}
	case *kind.Required:
		for _, name := range k.Missing {
			e.add(append(slices.Clone(at), name), "missing; add it%s", e.expected(v.SchemaURL, name))
		}
	case *kind.Type:
		e.add(at, "is %s, must be %s", article(k.Got), alternatives(k.Want))
	case *kind.Enum:
		e.add(at, "%s is not one of %s%s", show(k.Got), list(k.Want), hint(k.Got, k.Want))
	case *kind.Const:
		e.add(at, "%s must be %s", show(k.Got), show(k.Want))
	case *kind.Pattern:
		if last := len(at) - 1; last >= 0 && strings.HasSuffix(at[last], "_env") {
			// The value is not quoted, because it may be the secret itself.
			e.add(at, "does not match %s; give the name of an environment variable, not its value", k.Want)
			return
		}
		e.add(at, "%q does not match %s%s", k.Got, k.Want, e.described(v.SchemaURL))
	case *kind.Format:
		e.add(at, "%s is not a %s", show(k.Got), k.Want)
	case *kind.Minimum:
		e.add(at, "%s is too small, the least is %s", number(k.Got), number(k.Want))
	case *kind.Maximum:
		e.add(at, "%s is too large, the most is %s", number(k.Got), number(k.Want))
	case *kind.ExclusiveMinimum:
		e.add(at, "%s is too small, must be more than %s", number(k.Got), number(k.Want))
	case *kind.ExclusiveMaximum:
		e.add(at, "%s is too large, must be less than %s", number(k.Got), number(k.Want))
	case *kind.MinItems:
		e.add(at, "has %d entries, needs at least %d", k.Got, k.Want)
	case *kind.MinLength:
		e.add(at, "is %d characters long, needs at least %d", k.Got, k.Want)
	case *kind.MinProperties:
		known := strings.Join(e.properties(v.SchemaURL), ", ")
		if known == "" {
			known = "your own"
		}
		e.add(at, "is empty, needs at least one of %s", known)
	case *kind.PropertyNames:
		rule := "is not allowed"
		if pattern := findPattern(v); pattern != "" {
			rule = "does not match " + pattern
		}
		e.add(append(propertiesIn(v.SchemaURL), k.Property), "the name %s", rule)
	case *kind.OneOf:
		e.oneOf(v, k)
	case *kind.Not:
		e.add(at, "%s is not allowed here%s", show(part(e.doc, at)), e.described(v.SchemaURL))
	default:
		if len(v.Causes) == 0 {
			e.add(at, "%s", v.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
		}
		for _, cause := range v.Causes {
			e.walk(cause)
		}
	}
}

// oneOf explains the two uses of oneOf in the schemas. One is a choice between keys. The other is variants selected by a
// const (auth.mode), where only the faults of the chosen variant matter.
func (e *explainer) oneOf(v *jsonschema.ValidationError, k *kind.OneOf) {
	if keys := e.choices(v.SchemaURL); keys != nil {
		given := 0
		if m, ok := part(e.doc, v.InstanceLocation).(map[string]any); ok {
			for _, key := range keys {
				if _, ok := m[key]; ok {
					given++
				}
			}
		}
		last := len(keys) - 1
		rule := "give either " + strings.Join(keys[:last], ", ") + " or " + keys[last]
		switch {
		case given > 1 && len(keys) > 2:
			rule += ", only one of them"
		case given > 1:
			rule += ", not both"
		}
		e.add(v.InstanceLocation, "%s", rule)
		return
	}
	for _, cause := range v.Causes {
		if !hasConst(cause) {
			e.walk(cause)
			return
		}
	}
}

// choices returns the keys of a oneOf if each branch only requires one key, else nil.
func (e *explainer) choices(schemaURL string) []string {
	s, err := e.compiler.Compile(schemaURL)
	if err != nil {
		return nil
	}
	var keys []string
	for _, branch := range s.OneOf {
		if len(branch.Required) != 1 || len(branch.Properties) > 0 {
			return nil
		}
		keys = append(keys, branch.Required[0])
	}
	return keys
}

func (e *explainer) properties(schemaURL string) []string {
	s, err := e.compiler.Compile(schemaURL)
	if err != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	return slices.DeleteFunc(names, func(n string) bool { return n == "$schema" })
}

// described returns the schema's description in brackets, or "".
func (e *explainer) described(schemaURL string) string {
	s, err := e.compiler.Compile(schemaURL)
	if err != nil || s.Description == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(s.Description, ".") + ")"
}

// expected describes the value of a missing property, or returns "".
func (e *explainer) expected(schemaURL, name string) string {
	s, err := e.compiler.Compile(schemaURL)
	if err != nil {
		return ""
	}
	p := s.Properties[name]
	for p != nil && p.Ref != nil && p.Enum == nil && p.Const == nil {
		p = p.Ref
	}
	switch {
	case p == nil:
		return ""
	case p.Const != nil:
		return ": " + show(*p.Const)
	case p.Enum != nil:
		return ": one of " + list(p.Enum.Values)
	}
	return ""
}

func hasConst(v *jsonschema.ValidationError) bool {
	if _, ok := v.ErrorKind.(*kind.Const); ok {
		return true
	}
	return slices.ContainsFunc(v.Causes, hasConst)
}

// findPattern returns the first pattern that did not match, or "".
func findPattern(v *jsonschema.ValidationError) string {
	if p, ok := v.ErrorKind.(*kind.Pattern); ok {
		return p.Want
	}
	for _, cause := range v.Causes {
		if p := findPattern(cause); p != "" {
			return p
		}
	}
	return ""
}

// propertiesIn returns the path in the document for a schema's path, such as outputs for
// …#/properties/outputs/propertyNames: for propertyNames the validator gives no other path.
func propertiesIn(schemaURL string) []string {
	_, fragment, _ := strings.Cut(schemaURL, "#")
	steps := strings.Split(fragment, "/")
	var location []string
	for i := 0; i+1 < len(steps); i++ {
		if steps[i] == "properties" {
			location = append(location, steps[i+1])
			i++
		}
	}
	return location
}

// part returns the part of doc at a path, or nil.
func part(doc any, location []string) any {
	for _, key := range location {
		switch in := doc.(type) {
		case map[string]any:
			doc = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			doc = in[i]
		default:
			return nil
		}
	}
	return doc
}

// Field joins a path: keys with dots, list indexes in brackets, unusual keys quoted.
func Field(location []string) string {
	var b strings.Builder
	for _, key := range location {
		switch {
		case key != "" && strings.Trim(key, "0123456789") == "":
			b.WriteString("[" + key + "]")
		case key == "" || strings.ContainsAny(key, ". \t\n\"[]"):
			fmt.Fprintf(&b, "[%q]", key)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(key)
		}
	}
	return b.String()
}

// show returns the JSON form of a value, shortened to about 60 characters.
func show(v any) string {
	plain, err := document.JSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	text := []rune(string(plain))
	if len(text) > 60 {
		return string(text[:59]) + "…"
	}
	return string(text)
}

func list(values []any) string {
	return strings.Join(seq.Map(values, func(v any) string {
		if s, ok := v.(string); ok {
			return s
		}
		return show(v)
	}), ", ")
}

func hint(got any, want []any) string {
	name, ok := got.(string)
	if !ok {
		return ""
	}
	var names []string
	for _, w := range want {
		if s, ok := w.(string); ok {
			names = append(names, s)
		}
	}
	return closest.Hint(name, names)
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}

func article(name string) string {
	switch name {
	case "object", "array", "integer":
		return "an " + name
	case "null":
		return "null"
	default:
		return "a " + name
	}
}

func alternatives(names []string) string {
	parts := seq.Map(seq.Filter(names, func(n string) bool { return n != "null" }), article)
	if len(parts) < len(names) {
		parts = append(parts, "null")
	}
	return strings.Join(parts, " or ")
}
