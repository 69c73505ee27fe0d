// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"fmt"
	"strings"
)

// Measure is a value in the Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format/.
type Measure struct {
	Value float64 `json:"value"`
}

// Bencher is the latest point of each group in the Bencher Metric Format: benchmark, measure, value. Units are in the measures' names.
func Bencher(groups []Group) map[string]map[string]Measure {
	all := map[string]map[string]Measure{}
	for _, g := range groups {
		p := g.Last()
		for _, f := range p.Figures {
			name := strings.TrimSpace(benchmark(g, p) + " " + f.Operation)
			if all[name] == nil {
				all[name] = map[string]Measure{}
			}
			measure := f.Name
			if f.Unit == "ms" {
				measure += "_ms"
			}
			all[name][measure] = Measure{f.Value}
		}
	}
	return all
}

// Entry is an entry of github-action-benchmark's customSmallerIsBetter and customBiggerIsBetter.
type Entry struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Extra string  `json:"extra"`
}

// GitHub is the latest point of each group for github-action-benchmark, split into smaller-is-better and
// bigger-is-better.
func GitHub(groups []Group) (smaller, bigger []Entry) {
	smaller, bigger = []Entry{}, []Entry{}
	for _, g := range groups {
		p := g.Last()
		for _, f := range p.Figures {
			e := Entry{Name: benchmark(g, p) + ": " + f.Title, Unit: f.Unit, Value: f.Value, Extra: "run " + p.Run + ", " + p.Version()}
			if f.Higher() {
				bigger = append(bigger, e)
			} else {
				smaller = append(smaller, e)
			}
		}
	}
	return smaller, bigger
}

// benchmark names a group: the name includes profile, parameters and testbed.
func benchmark(g Group, p Point) string { return fmt.Sprintf("%s %s %s", p.Name(), p.Profile, g.ID()) }
