// SPDX-License-Identifier: AGPL-3.0-only

package seq

import (
	"slices"
	"strconv"
	"testing"
)

func TestOrderAndNone(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	all := []int{3, 2, 1}
	if got := Map(all, strconv.Itoa); !slices.Equal(got, []string{"3", "2", "1"}) {
		t.Error(got)
	}
	if got := Filter(all, odd); !slices.Equal(got, []int{3, 1}) || Count(all, odd) != 2 {
		t.Error(got)
	}
	if Map([]int(nil), strconv.Itoa) != nil || Filter([]int{2}, odd) != nil || Count(nil, odd) != 0 {
		t.Error("none is not nil")
	}
}
