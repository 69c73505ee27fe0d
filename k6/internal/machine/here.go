// SPDX-License-Identifier: AGPL-3.0-only

package machine

import (
	"os"
	"strings"
)

// Here is what of this machine's class can be told before a run: its hardware, kernel and congestion control. What cannot be
// told is unknown, or 0.
func Here() Class { return read("/proc") }

func read(proc string) Class {
	c := Class{CPUModel: unknown, Kernel: unknown, CongestionControl: unknown}
	for line := range strings.SplitSeq(text(proc, "cpuinfo"), "\n") {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "processor":
			c.CPUs++
		case "model name":
			c.CPUModel = known(strings.TrimSpace(value))
		}
	}
	major, _, _ := strings.Cut(text(proc, "sys/kernel/osrelease"), ".")
	c.Kernel, c.CongestionControl = known(major), known(text(proc, "sys/net/ipv4/tcp_congestion_control"))
	return c
}

func text(proc, name string) string {
	data, _ := os.ReadFile(proc + "/" + name) // what cannot be read is unknown
	return strings.TrimSpace(string(data))
}

// Excludes names the fields in which this machine, as far as it is told, is of another class than c, with both values.
func (c Class) Excludes(here Class) []string {
	told := c
	if here.CPUModel != unknown {
		told.CPUModel = here.CPUModel
	}
	if here.CPUs > 0 {
		told.CPUs = here.CPUs
	}
	if here.Kernel != unknown {
		told.Kernel = here.Kernel
	}
	if here.CongestionControl != unknown {
		told.CongestionControl = here.CongestionControl
	}
	return c.Differences(told)
}
