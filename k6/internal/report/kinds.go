// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/result"
)

// explainOf explains a kind of error of an operation.
func explainOf(r result.Result, op result.Operation, kind string) string {
	control, ok := r.ControlOf(op.Name)
	return kinds.Explain(kind, ok && control.Errors[kind] == 0)
}
