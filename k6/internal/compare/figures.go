// SPDX-License-Identifier: AGPL-3.0-only

package compare

import "windtunnel/k6/internal/result"

// Figure is a judged metric's value in one run. Better is higher or lower.
type Figure struct {
	Operation string  `json:"operation"` // "" for the whole run
	Title     string  `json:"title"`
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Better    string  `json:"better"`
	Value     float64 `json:"value"`
}

// Higher reports whether a higher value is better.
func (f Figure) Higher() bool { return f.Better == direction(true) }

// Figures returns a result's judged metrics, in the order of a comparison's rows, without controls and metrics that are
// only shown.
func Figures(r result.Result) []Figure {
	var all []Figure
	for _, row := range rows(r) {
		if row.Control || row.Role == Shown || row.value == nil {
			continue
		}
		all = append(all, Figure{row.Operation, row.Title, row.Name, row.Unit, row.Better, *row.value})
	}
	return all
}
