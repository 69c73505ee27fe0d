// SPDX-License-Identifier: AGPL-3.0-only

package cpus

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Used is the CPU time of this process so far, in seconds.
func Used() float64 {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

// Machine is the work of all CPUs of this machine since boot, in kernel ticks. Count is the number of CPUs, and Steal the part of Busy
// that the hypervisor took.
type Machine struct {
	Count             int
	Busy, Idle, Steal float64
}

// OfMachine reads the work of the CPUs; Count is 0 if it is unknown.
func OfMachine() Machine {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Machine{}
	}
	return machineOf(string(text))
}

// machineOf parses /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. The time of guests is included in
// user.
func machineOf(text string) (m Machine) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		if fields[0] != "cpu" {
			m.Count++
			continue
		}
		for i, field := range fields[1:9] {
			ticks, _ := strconv.ParseFloat(field, 64)
			if i == 3 || i == 4 {
				m.Idle += ticks
			} else {
				m.Busy += ticks
			}
			if i == 7 {
				m.Steal = ticks
			}
		}
	}
	return m
}

// BusyPercent is the load of the CPUs since before, in percent; false if unknown.
func (m Machine) BusyPercent(before Machine) (percent float64, ok bool) {
	busy, all := m.Busy-before.Busy, m.Busy+m.Idle-before.Busy-before.Idle
	if m.Count == 0 || before.Count == 0 || all <= 0 {
		return 0, false
	}
	return 100 * busy / all, true
}
