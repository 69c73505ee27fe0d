// SPDX-License-Identifier: AGPL-3.0-only

package format

import (
	"slices"
	"testing"
)

func TestAlign(t *testing.T) {
	got := Align([][]string{{"Metric", "A", "says"}, {"µ", "1,000", ""}}, func(column int) bool { return column == 1 })
	if want := []string{"Metric      A  says", "µ       1,000"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
