// SPDX-License-Identifier: AGPL-3.0-only

package variables

import "strings"

// Group is a part of the registry: the variables of every scenario, of a system, or of make.
type Group struct {
	Title     string
	Variables []Variable
}

// Groups are the parts of the registry, in the order of its page.
func Groups() (all []Group) {
	for _, g := range groups() {
		all = append(all, Group{g.title, g.variables()})
	}
	return all
}

// FlagName is the name of the flag that sets a variable: RUN_ID is run-id.
func FlagName(variable string) string {
	return strings.ReplaceAll(strings.ToLower(variable), "_", "-")
}

// Explain says what a variable is, as the help of its flag: with its choices, but without its default.
func Explain(name string) string {
	v := Find(name)
	if v.Unit == Choice {
		return v.What + ": " + strings.Join(v.Choices, ", ")
	}
	return v.What
}
