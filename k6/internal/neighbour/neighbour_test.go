// SPDX-License-Identifier: AGPL-3.0-only

package neighbour

import (
	"os"
	"testing"
)

func TestOnlyABenchOnTheSameCPUsDisturbs(t *testing.T) {
	for _, c := range []struct {
		name  string
		other neighbour
		want  bool
	}{
		{"the same CPU", neighbour{PID: 1 << 22, CPUs: []int{0, 1}}, true},
		{"other CPUs", neighbour{PID: 1 << 22, CPUs: []int{2, 3}}, false},
		{"it does not say", neighbour{PID: 1 << 22}, true},
		{"itself", neighbour{PID: os.Getpid(), CPUs: []int{1}}, false},
		{"its parent", neighbour{PID: os.Getppid(), CPUs: []int{1}}, false},
	} {
		if got := c.other.disturbs([]int{1}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
