// SPDX-License-Identifier: AGPL-3.0-only

// Package variables is the module k6/x/windtunnel/variables: it gives scripts access to the registry of variables. Each
// VU asks for the variables that it reads, and keeps no list. lib/globals.d.ts has its types.
package variables

import (
	"os"

	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/variables"
)

const ImportPath = "k6/x/windtunnel/variables"

func init() {
	modules.Register(ImportPath, jsvalue.Module(func(modules.VU) map[string]any {
		return map[string]any{
			"entry":    variables.Entry,
			"wrong":    variables.Wrong,
			"misspelt": func() string { return variables.MisspeltFlag(os.Args) },
		}
	}))
}
