// SPDX-License-Identifier: AGPL-3.0-only

// Package schema checks documents against Windtunnel's JSON Schemas. Its messages name the field, the fault and the fix.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"windtunnel/k6/schemas"
)

// Kind is a kind of document; its value is the stem of its schema file.
type Kind string

// The kinds of documents.
const (
	Environment    Kind = "environment"
	Testbed        Kind = "testbed"
	Result         Kind = "result"
	Comparison     Kind = "comparison"
	Primitives     Kind = "primitives"
	Thresholds     Kind = "thresholds"
	System         Kind = "system"
	ProtocolRow    Kind = "protocol-row"
	ProtocolEngine Kind = "protocol-engine"
	ProtocolSide   Kind = "protocol-side"
	PanelDialect   Kind = "panel-dialect"
)

// Problem is one fault of a document. Field is its path, such as systems.pulsar.auth.mode, or "" for the whole document.
// Message says in one line what is wrong and how to fix it.
type Problem struct {
	Field   string
	Message string
}

func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

type compiled struct {
	compiler *jsonschema.Compiler
	schema   *jsonschema.Schema
}

// byKind holds each kind's schema, compiled at the first use: each takes milliseconds, and most programs need only one.
var byKind = func() map[Kind]func() compiled {
	all := map[Kind]func() compiled{}
	for _, kind := range []Kind{Environment, Testbed, Result, Comparison, Primitives, Thresholds, System, ProtocolRow, ProtocolEngine, ProtocolSide, PanelDialect} {
		all[kind] = sync.OnceValue(func() compiled { return compile(kind) })
	}
	return all
}()

func compile(kind Kind) compiled {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(embedded{})
	schema, err := compiler.Compile(base + string(kind) + suffix)
	if err != nil {
		panic(err) // the schema is embedded at build time
	}
	return compiled{compiler, schema}
}

// The URL of an embedded schema. It must be a whole URL: the compiler takes a bare name as a path in the current folder.
const (
	base   = "https://windtunnel.invalid/"
	suffix = ".schema.json"
)

// embedded loads the schemas that others refer to.
type embedded struct{}

func (embedded) Load(url string) (any, error) {
	kind := strings.TrimSuffix(strings.TrimPrefix(url, base), suffix)
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw(Kind(kind))))
}

func raw(kind Kind) []byte {
	data, err := schemas.Files.ReadFile(string(kind) + suffix)
	if err != nil {
		panic(err) // the schema is embedded at build time
	}
	return data
}

// Check returns the faults of doc, in the order of their fields; a valid document has none. doc has the form of
// jsonschema.UnmarshalJSON: numbers are json.Number.
func Check(kind Kind, doc any) []Problem {
	by := byKind[kind]()
	if problem := otherForm(by.schema, doc); problem != "" && slices.Contains(written, kind) {
		return []Problem{{"schema", problem}}
	}
	return problems(by.compiler, by.schema, doc)
}

// written are the kinds that Windtunnel itself writes, so a user does not fix them by hand.
var written = []Kind{Result, Comparison, Primitives}

// otherForm says that a document has another version of its format, "" if it has the same: other differences are then
// irrelevant.
func otherForm(by *jsonschema.Schema, doc any) string {
	object, ok := doc.(map[string]any)
	says, _ := object["schema"].(string)
	form := by.Properties["schema"]
	if !ok || form == nil || form.Const == nil {
		return ""
	}
	reads, _ := (*form.Const).(string)
	name, number, _ := strings.Cut(reads, "/")
	own, other, _ := strings.Cut(says, "/")
	if own != name || other == number {
		return ""
	}
	return fmt.Sprintf("it is %s, and this Windtunnel reads %s: measure again, or take the Windtunnel that wrote it", says, reads)
}

// CheckBy checks a document by the user's own schema file. The error is about the schema.
func CheckBy(path string, doc any) ([]Problem, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	read, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const name = base + "own" + suffix
	if err := c.AddResource(name, read); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, err
	}
	return problems(c, compiled, doc), nil
}

func problems(compiler *jsonschema.Compiler, by *jsonschema.Schema, doc any) []Problem {
	err := by.Validate(doc)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Problem{{Message: err.Error()}}
	}
	e := explainer{compiler: compiler, doc: doc}
	e.walk(invalid)
	slices.SortStableFunc(e.problems, func(a, b Problem) int {
		return bytes.Compare([]byte(a.Field), []byte(b.Field))
	})
	return slices.Compact(e.problems)
}
