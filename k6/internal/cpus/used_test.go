// SPDX-License-Identifier: AGPL-3.0-only

package cpus

import (
	"testing"
	"time"

	"windtunnel/k6/internal/testsupport/busy"
)

func TestAMachineIsAsBusyAsItsTicksSay(t *testing.T) {
	const head, two = "cpu  100 10 40 800 50 5 5 20 7 0\n", "cpu0 1 1 1 1 1 1 1 1 0 0\ncpu1 1 1 1 1 1 1 1 1 0 0\nintr 5\nctxt 9\n"
	before := machineOf(head + two)
	if before != (Machine{Count: 2, Busy: 180, Idle: 850, Steal: 20}) {
		t.Errorf("%+v", before)
	}
	after := Machine{Count: 2, Busy: 180 + 60, Idle: 850 + 40}
	if percent, ok := after.BusyPercent(before); !ok || percent != 60 {
		t.Errorf("%v %v", percent, ok)
	}
	if _, ok := after.BusyPercent(Machine{}); ok {
		t.Error("known without a beginning")
	}
	if _, ok := before.BusyPercent(before); ok {
		t.Error("known of no time at all")
	}
}

func TestThisProcessAndItsMachine(t *testing.T) {
	machine := OfMachine()
	busy.Undisturbed(t, func(timely busy.Timely) {
		before := Used()
		for begun := time.Now(); time.Since(begun) < 50*time.Millisecond; {
		}
		used := Used() - before
		timely(used >= 0.005 && used <= 5, "%v s of CPU time for 50 ms", used)
	})
	if percent, ok := OfMachine().BusyPercent(machine); machine.Count == 0 || !ok || percent <= 0 || percent > 100 {
		t.Errorf("%+v: %v %v", machine, percent, ok)
	}
}
