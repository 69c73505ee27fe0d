// SPDX-License-Identifier: AGPL-3.0-only

// Package cpus returns the CPUs of this process, and writes lists of CPUs in taskset's form.
package cpus

import (
	"strings"

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
