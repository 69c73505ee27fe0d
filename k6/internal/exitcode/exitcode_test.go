// SPDX-License-Identifier: AGPL-3.0-only

package exitcode

import "testing"

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{nil, Pass},
		{[]int{Pass, Pass}, Pass},
		{[]int{Pass, Inconclusive}, Inconclusive},
		{[]int{Inconclusive, Fail, Pass}, Fail},
		{[]int{Fail, Setup}, Setup},
		{[]int{Setup, Interrupted, Fail}, Interrupted},
		{[]int{Pass, 77}, Setup},
	} {
		if got := Worst(c.codes...); got != c.want {
			t.Errorf("Worst(%v) = %d, want %d", c.codes, got, c.want)
		}
	}
}
