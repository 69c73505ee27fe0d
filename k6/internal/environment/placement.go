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

// Placement names the CPUs for probe, echo and system: one name for all scenarios, or one name by scenario, with
// `default` for the others.
type Placement map[string]string

const defaultPlacement = "default"

// UnmarshalJSON reads a name or an object of names.
func (p *Placement) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*p = Placement{defaultPlacement: name}
		return nil
	}
	return json.Unmarshal(data, (*map[string]string)(p))
}

// Of returns the placement of a scenario; the default is shared.
func (p Placement) Of(scenario string) string {
	return cmp.Or(p[scenario], p[defaultPlacement], Placements()[0])
}

// Scenarios returns the scenarios with a separate placement, sorted.
func (p Placement) Scenarios() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p)), func(name string) bool { return name == defaultPlacement })
}
