// SPDX-License-Identifier: AGPL-3.0-only

package cpus

import "testing"

func TestAllowed(t *testing.T) {
	if cpus := Allowed(); len(cpus) == 0 {
		t.Error("none")
	}
}
