// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"testing"

	"windtunnel/k6/internal/exit"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		cpus []int
		want Placement
		says string
	}{
		{"shared", []int{0, 1}, Placement{"shared", "1", "1", "1"}, ""},
		{"shared", []int{5}, Placement{"shared", "5", "5", "5"}, ""},
		{"split", []int{0, 1}, Placement{"split", "1", "1", "0"}, ""},
		{"split", []int{0, 1, 2}, Placement{"split", "2", "2", "0-1"}, ""},
		{"split", []int{0, 1, 2, 3}, Placement{"split", "3", "2", "0-1"}, ""},
		{"split", []int{0, 2, 3, 4, 6, 7}, Placement{"split", "7", "6", "0,2-4"}, ""},
		{"free", []int{0}, Placement{Name: "free"}, ""},
		{"free", nil, Placement{Name: "free"}, ""},
		{"split", []int{3}, Placement{Name: "split"}, "4 placement split needs 2 CPUs, this process may use 1; set PLACEMENT=shared"},
		{"shared", nil, Placement{Name: "shared"}, "4 placement shared: the CPUs of this process are unknown; set PLACEMENT=free"},
		{"splt", []int{0, 1}, Placement{}, "2 unknown placement splt; did you mean split?; there are: shared, split, free"},
	} {
		got, f := place(c.name, c.cpus)
		says := ""
		if f != nil {
			says = map[int]string{exit.Usage: "2 ", exit.Setup: "4 "}[f.Code] + f.Message
		}
		if got != c.want || says != c.says {
			t.Errorf("%s on %v: %+v %q", c.name, c.cpus, got, says)
		}
	}
}
