// SPDX-License-Identifier: AGPL-3.0-only

package environment

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Placements lists the names of the placements.
func Placements() []string { return []string{"shared", "split", "free"} }

// Placement names on which CPUs probe, echo and system run: one name for all scenarios, or a name
// for each under its scenario and `default`.
type Placement map[string]string

const defaultPlacement = "default"

// UnmarshalJSON takes a name or an object of names.
func (p *Placement) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*p = Placement{defaultPlacement: name}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(p))
}

// Of returns the placement of a scenario, shared where nothing is said.
func (p Placement) Of(scenario string) string {
	return cmp.Or(p[scenario], p[defaultPlacement], Placements()[0])
}

// Scenarios returns the scenarios that have a placement of their own, sorted.
func (p Placement) Scenarios() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p)), func(name string) bool { return name == defaultPlacement })
}
