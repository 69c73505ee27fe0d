// SPDX-License-Identifier: AGPL-3.0-only

// Package cpus returns the CPUs of this process, and writes lists of CPUs in taskset's form.
package cpus

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/format"
)

// Allowed lists the CPUs that this process may use. Containers and taskset may restrict them.
func Allowed() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// List writes CPUs in their order, in taskset's form.
func List(cpus []int) string {
	return strings.Join(format.Runs(cpus, "-"), ",")
}

// Share is how many CPUs' worth of time this process may use: its allowed CPUs, or less if one of its control groups has
// a quota.
func Share() float64 {
	own, _ := os.ReadFile("/proc/self/cgroup")
	return min(float64(len(Allowed())), quota("/sys/fs/cgroup", string(own)))
}

// noQuota is larger than any number of CPUs.
const noQuota = 1 << 20

// roots are the groups that a container sees as its own ones, of version 2 and version 1, as /proc/self/cgroup has them.
const roots = "0::/\n1:cpu:/\n"

// quota is the smallest CPU quota of the groups in own, the text of /proc/self/cgroup, and of their parents; noQuota
// without a quota.
func quota(root, own string) float64 {
	least := float64(noQuota)
	for line := range strings.Lines(roots + own) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		top := root
		if controllers != "" { // cgroup version 1
			if !slices.Contains(strings.Split(controllers, ","), "cpu") {
				continue
			}
			top = filepath.Join(root, "cpu")
		}
		for at := path.Clean("/" + group); ; at = path.Dir(at) {
			least = min(least, quotaOf(filepath.Join(top, at)))
			if at == "/" {
				break
			}
		}
	}
	return least
}

func quotaOf(group string) float64 {
	if fields := words(group, "cpu.max"); len(fields) == 2 { // cgroup version 2
		return ratio(fields[0], fields[1])
	}
	most, period := words(group, "cpu.cfs_quota_us"), words(group, "cpu.cfs_period_us")
	if len(most) == 1 && len(period) == 1 {
		return ratio(most[0], period[0])
	}
	return noQuota
}

func words(group, name string) []string {
	text, _ := os.ReadFile(filepath.Join(group, name)) // a missing file means no quota
	return strings.Fields(string(text))
}

// ratio is a quota in CPUs; max and -1 mean no quota.
func ratio(quota, period string) float64 {
	most, err := strconv.ParseFloat(quota, 64)
	of, periodErr := strconv.ParseFloat(period, 64)
	if err != nil || periodErr != nil || most <= 0 || of <= 0 {
		return noQuota
	}
	return most / of
}

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
