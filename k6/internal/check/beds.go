// SPDX-License-Identifier: AGPL-3.0-only

package check

import "windtunnel/k6/internal/testbed"

// Beds returns a function that reads what a testbed of the checkout declares. It returns the zero value for an unknown
// testbed or an empty base: callers then go by the names of the variables.
func Beds(base string) func(string) testbed.Testbed {
	return func(name string) testbed.Testbed {
		if base == "" {
			return testbed.Testbed{}
		}
		bed, err := Testbed(base, name)
		if err != nil {
			return testbed.Testbed{}
		}
		return bed
	}
}
