// SPDX-License-Identifier: AGPL-3.0-only

package testbed

import "testing"

func TestASweepAppliesWhereItsVariablesHaveTheirValues(t *testing.T) {
	for _, c := range []struct {
		only      map[string]string
		variables map[string]any
		applies   bool
	}{
		{nil, map[string]any{"engine": "xray"}, true},
		{map[string]string{"engine": "xray"}, map[string]any{"engine": "xray", "gogc": 100.0}, true},
		{map[string]string{"engine": "xray"}, map[string]any{"engine": "sing-box"}, false},
		{map[string]string{"engine": "xray"}, nil, false},
	} {
		if got := (Sweep{Only: c.only}).Applies(c.variables); got != c.applies {
			t.Errorf("%v with %v: %v", c.only, c.variables, got)
		}
	}
}
