// SPDX-License-Identifier: AGPL-3.0-only

// Package environment is the module k6/x/windtunnel/environment: it gives scripts the same checks of an environment as
// k6 x validate. lib/globals.d.ts has its types.
package environment

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/connect"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/schema"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

const ImportPath = "k6/x/windtunnel/environment"

func init() {
	modules.Register(ImportPath, jsvalue.Module(exports))
}

func exports(modules.VU) map[string]any {
	return map[string]any{"problems": Problems, "thresholdProblems": ThresholdProblems, "dialectProblems": DialectProblems,
		"isLoopback": environment.IsLoopback, "fromShell": FromShell, "endsBadly": environment.EndsBadly,
		"connection": connection, "tlsMend": connect.Remedy}
}

// connection says how to reach a system, or why that is unknown; asked is connect.Asked as JSON. It returns a map: a
// script would show an embedded struct, with the private key in its options, beside its fields.
func connection(asked string) map[string]any {
	var a connect.Asked
	if err := json.Unmarshal([]byte(asked), &a); err != nil {
		return map[string]any{"error": err.Error()}
	}
	c, err := connect.Of(a)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"url": c.URL, "from": c.From, "options": c.Options, "parameters": c.Parameters, "notes": c.Notes, "tried": c.Tried, "wrap": wrapped(c.Wrap), "error": ""}
}

// wrapped is TLS of a SOCKS5 proxy as JSON, "" without.
func wrapped(w *connect.Wrap) string {
	if w == nil {
		return ""
	}
	text, _ := json.Marshal(w) // texts and a boolean always have JSON
	return string(text)
}

// FromShell are the settings that k6 takes from the shell, NAME=VALUE separated by commas; "" without settings.
func FromShell() string { return strings.Join(variables.FromShell(os.Environ()), ", ") }

// Problems returns what is wrong with the text of an environment file, one line each; nil for a valid file.
func Problems(text string) []string { return problems(schema.Environment, text) }

// ThresholdProblems does the same for scripts/SYSTEM/thresholds.json.
func ThresholdProblems(text string) []string { return problems(schema.Thresholds, text) }

// DialectProblems does the same for a panel's dialect.
func DialectProblems(text string) []string { return problems(schema.PanelDialect, text) }

func problems(kind schema.Kind, text string) []string {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return []string{"not valid JSON: " + err.Error()}
	}
	return append([]string{}, seq.Map(schema.Check(kind, doc), schema.Problem.String)...)
}
