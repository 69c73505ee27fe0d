// SPDX-License-Identifier: AGPL-3.0-only

// Package turns is the module k6/x/windtunnel/turns: the load of a script waits for its turn, and its clean-up waits for the load of
// another run, if the variable BATON is set. lib/globals.d.ts has its types.
package turns

import (
	"fmt"
	"os"

	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/baton"
	"windtunnel/k6/internal/jsvalue"
)

// ImportPath is the module's name in scripts.
const ImportPath = "k6/x/windtunnel/turns"

func init() {
	var holder *baton.Holder // of this process; setup and teardown follow each other
	given := os.Getenv(baton.Variable)
	modules.Register(ImportPath, jsvalue.Module(func(vu modules.VU) map[string]any {
		return map[string]any{
			"taken": given != "",
			"begin": func() {
				joined, err := baton.Join(given)
				if err != nil {
					common.Throw(vu.Runtime(), fmt.Errorf("%s: %w", ImportPath, err))
				}
				holder = joined
				holder.Wait(vu.Context())
			},
			"end": func() {
				if holder != nil {
					holder.End(vu.Context())
				}
			},
		}
	}))
}
