// SPDX-License-Identifier: AGPL-3.0-only

package exitcode

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestThePageHasEachCode(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range list {
		if row := fmt.Sprintf("\n| %d | ", e.Code); !strings.Contains(string(page), row) {
			t.Errorf("no row of %s", name)
		}
	}
}

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
