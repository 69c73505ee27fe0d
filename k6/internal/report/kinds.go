// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
)

// explainOf explains a kind of error of an operation.
func explainOf(r result.Result, op result.Operation, kind string) string {
	for _, c := range r.Controls {
		if c.Operation != op.Name {
			continue
		}
		if control, ok := r.Find(c.Control); ok && control.Errors[kind] == 0 {
			return kinds.Explain(kind, true)
		}
	}
	return kinds.Explain(kind, false)
}
