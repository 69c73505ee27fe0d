// SPDX-License-Identifier: AGPL-3.0-only

// Package barrier is the module k6/x/windtunnel/barrier: if the variable BARRIER is set, a run waits for the run of the other side of a
// comparison. lib/globals.d.ts has its types.
package barrier

import (
	"fmt"
	"os"

	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/barrier"
	"windtunnel/k6/internal/jsvalue"
)

// ImportPath is the module's name in scripts.
const ImportPath = "k6/x/windtunnel/barrier"

func init() {
	given := os.Getenv(barrier.Variable)
	modules.Register(ImportPath, jsvalue.Module(func(vu modules.VU) map[string]any {
		return map[string]any{
			"given": given != "",
			"meet": func(point string) bool {
				member, err := barrier.Join(given)
				both := false
				if err == nil {
					both, err = member.Meet(vu.Context(), point)
				}
				if err != nil {
					common.Throw(vu.Runtime(), fmt.Errorf("%s: %w", ImportPath, err))
				}
				return both
			},
		}
	}))
}
