// SPDX-License-Identifier: AGPL-3.0-only

// Package difference is the module k6/x/windtunnel/difference: it gives scripts access to the comparison engine,
// internal/difference. lib/globals.d.ts has its types.
package difference

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

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

// Compared are comparisons that each ask for the better one of two sides.
type Compared struct {
	Comparisons []Pairs `json:"comparisons"`
}

// Found is the answer for all comparisons. FewestPairs is the smallest number of pairs with which a comparison can find
// a better side. Confidence is the confidence of an interval, 0 to 1.
type Found struct {
	Comparisons []Side  `json:"comparisons"`
	FewestPairs int     `json:"fewest_pairs"`
	Confidence  float64 `json:"confidence"`
}

// Side is the better side of a comparison: "a", "b", or null if undecided. The decision allows for the number of
// comparisons. ToTell estimates the total number of pairs that would decide; null if it is decided, or if no number
// would. A comparison without a value in a pair is undecided, and its Pairs are 0.
type Side struct {
	Shown
	P      float64 `json:"p"`
	Better *string `json:"better"`
	Pairs  int     `json:"pairs"`
	ToTell *int    `json:"to_tell"`
}

var sides = map[difference.Side]*string{difference.A: new("a"), difference.B: new("b")}

// TellApart answers for all comparisons together.
func TellApart(asked Compared) (Found, error) {
	shifts := make([]difference.Shift, len(asked.Comparisons))
	for i, c := range asked.Comparisons {
		if err := c.check(); err != nil {
			return Found{}, fmt.Errorf("comparison %d: %w", i, err)
		}
		samples := c.samples()
		if slices.ContainsFunc(samples, math.IsNaN) {
			samples = nil
		}
		shifts[i] = difference.Paired(samples)
	}
	found := Found{Comparisons: []Side{}, FewestPairs: difference.FewestToTellApart(len(shifts)), Confidence: difference.Look{}.Confidence()}
	for i, apart := range difference.TellApart(shifts, 0) {
		s := Side{Shown: asked.Comparisons[i].change(apart.Answer, 0), P: apart.P, Better: sides[apart.Better], Pairs: shifts[i].N}
		if apart.ToTell > 0 && apart.ToTell <= difference.MostPairs {
			s.ToTell = &apart.ToTell
		}
		found.Comparisons = append(found.Comparisons, s)
	}
	return found, nil
}
