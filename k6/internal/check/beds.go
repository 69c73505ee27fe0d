// SPDX-License-Identifier: AGPL-3.0-only

package check

import "windtunnel/k6/internal/testbed"

// Beds tells what a testbed of the checkout declares; of one that it does not have, or with base "", nothing: the names of
// its variables then tell.
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
