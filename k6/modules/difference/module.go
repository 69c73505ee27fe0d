// SPDX-License-Identifier: AGPL-3.0-only

// Package difference is the module k6/x/windtunnel/difference: it gives scripts access to the comparison engine,
// internal/difference. lib/globals.d.ts has its types.
package difference

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/profiles"
)

const ImportPath = "k6/x/windtunnel/difference"

func init() {
	modules.Register(ImportPath, jsvalue.Module(exports))
}

func exports(vu modules.VU) map[string]any {
	return map[string]any{
		"judge":       func(asked sobek.Value) (sobek.Value, error) { return answer(vu.Runtime(), asked, Judge) },
		"tellApart":   func(asked sobek.Value) (sobek.Value, error) { return answer(vu.Runtime(), asked, TellApart) },
		"moreOften":   difference.MoreOften,
		"nextLook":    difference.Next,
		"mostMinutes": profiles.MostMinutes,
		"order":       func(sides, round int, name string) []int { return difference.Order(sides, round, difference.Lot(name)) },
	}
}

// answer converts arguments and results through JSON, so they are plain values. An unknown field or an invalid number is
// an exception in the script.
func answer[Q, A any](rt *sobek.Runtime, asked sobek.Value, ask func(Q) (A, error)) (sobek.Value, error) {
	var question Q
	var answers A
	text, err := json.Marshal(asked.Export())
	if err == nil {
		err = document.Strictly(text, &question)
	}
	if err == nil {
		answers, err = ask(question)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ImportPath, err)
	}
	return jsvalue.Into(rt, answers)
}
