// SPDX-License-Identifier: AGPL-3.0-only

package exit

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

func TestSay(t *testing.T) {
	var said strings.Builder
	if code := Say(&said, Setup, "%d of %s", 2, "it"); code != Setup {
		t.Error(code)
	}
	if code := BadUsage("50%% of %q", "x").Say(&said); code != Usage {
		t.Error(code)
	}
	if got := said.String(); got != "2 of it\n50% of \"x\"\n" {
		t.Errorf("%q", got)
	}
}
