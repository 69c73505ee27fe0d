// SPDX-License-Identifier: AGPL-3.0-only

package machine

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Here is the part of this machine's class that is known before a run: hardware, kernel and congestion control. An
// unknown field is "unknown" or 0.
func Here() Class { return read("/proc") }

func read(proc string) Class {
	c := Class{CPUModel: unknown, Kernel: unknown, CongestionControl: unknown}
	c.CPUModel, c.CPUs = processors(text(proc, "cpuinfo"))
	major, _, _ := strings.Cut(text(proc, "sys/kernel/osrelease"), ".")
	c.Kernel, c.CongestionControl = known(major), known(text(proc, "sys/net/ipv4/tcp_congestion_control"))
	return c
}

// processors parses /proc/cpuinfo like the sidecar: the model's name, or on ARM, which has no such name, the implementer
// and part of each kind of core; and the number of processors.
func processors(cpuinfo string) (model string, count int) {
	var found []string
	implementer := ""
	for line := range strings.SplitSeq(cpuinfo, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		own := ""
		switch strings.TrimSpace(name) {
		case "processor":
			count++
			implementer = ""
		case "CPU implementer":
			implementer = value
		case "CPU part":
			if implementer != "" && value != "" {
				own = fmt.Sprintf("implementer %s part %s", implementer, value)
			}
		case "model name":
			own = value
		}
		if own != "" && !slices.Contains(found, own) {
			found = append(found, own)
		}
	}
	return known(strings.Join(found, ", ")), count
}

func text(proc, name string) string {
	data, _ := os.ReadFile(proc + "/" + name) // an unreadable file counts as unknown
	return strings.TrimSpace(string(data))
}

// Excludes names the fields in which this machine's class differs from c, with both values. The placement and the
// versions of a run are not known yet.
func (c Class) Excludes(here Class) []string {
	merged := c
	merged.CPUModel, merged.CPUs, merged.Kernel, merged.CongestionControl = here.CPUModel, here.CPUs, here.Kernel, here.CongestionControl
	return c.Differences(merged)
}
