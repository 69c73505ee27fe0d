// SPDX-License-Identifier: AGPL-3.0-only

// Package cpus returns the CPUs of this process, and writes lists of CPUs in taskset's form.
package cpus

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j > i {
			part += "-" + strconv.Itoa(cpus[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
