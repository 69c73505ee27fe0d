// SPDX-License-Identifier: AGPL-3.0-only

// Package machine groups machines into classes. Figures of runs on one class may be compared although the runs did not
// take turns. docs/how-to/baselines.md says what is part of a class, and why.
package machine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/result"
)

// unknown is the value of a fact that a result lacks.
const unknown = "unknown"

// Class has the properties that affect figures and are no part of the system under test. Two classes are the same if all
// fields are known and equal.
type Class struct {
	CPUModel          string `json:"cpu_model"`
	CPUs              int    `json:"cpus"`
	Kernel            string `json:"kernel"` // major version, such as 6
	Placement         string `json:"placement"`
	CongestionControl string `json:"congestion_control"`
	Windtunnel        string `json:"windtunnel"`
	K6                string `json:"k6"`
}

// Of is the class of the machine that made a result.
func Of(r result.Result) Class {
	c := Class{CPUModel: unknown, Kernel: unknown, Placement: "not pinned", CongestionControl: unknown,
		Windtunnel: known(r.Run.Versions["windtunnel"]), K6: known(r.Run.Versions["k6"])}
	if p := r.Run.Placement; p != nil {
		c.Placement = fmt.Sprintf("%s: probes %s, far ends %s, system %s, %s", p.Name, cpus(p.ProbeCPUs), cpus(p.EchoCPUs), cpus(p.SystemCPUs), p.Wait)
	}
	host := r.Run.Host
	if host == nil {
		return c
	}
	major, _, _ := strings.Cut(host.Kernel, ".")
	c.CPUModel, c.CPUs, c.Kernel = known(host.CPUModel), count(host.CPUs), known(major)
	if s := host.Settings; s != nil && s.CongestionControl != nil {
		c.CongestionControl = *s.CongestionControl
	}
	return c
}

// architectures are values in old results, which had no implementer and part for ARM machines: they do not identify a
// machine.
var architectures = []string{"aarch64", "arm", "x86_64", "x86", "riscv64"}

// isUnknown reports whether a field's value is unknown, so that it equals no other value; no machine has 0 CPUs.
func isUnknown(value string) bool { return value == unknown || value == "0" }

func known(text string) string {
	if text == "" || slices.Contains(architectures, text) {
		return unknown
	}
	return text
}

// count is 0 if unknown.
func count(cpus *int) int {
	if cpus == nil {
		return 0
	}
	return *cpus
}

// Unknown names the host's facts that a result lacks. A missing fact equals no other host's.
func Unknown(host *result.Host) []string {
	if host == nil {
		return []string{"the host"}
	}
	var all []string
	for _, fact := range []struct {
		name  string
		known bool
	}{
		{"OS", known(host.OS) != unknown}, {"kernel", known(host.Kernel) != unknown}, {"CPU model", known(host.CPUModel) != unknown},
		{"number of CPUs", count(host.CPUs) > 0}, {"memory", host.Memory() > 0},
	} {
		if !fact.known {
			all = append(all, "the host's "+fact.name)
		}
	}
	return all
}

func cpus(list string) string {
	if list == "" {
		return "not pinned"
	}
	return "on " + list
}

// fields returns the names and values of a class's fields, in a fixed order.
func (c Class) fields() [][2]string {
	return [][2]string{{"CPU model", c.CPUModel}, {"CPUs", strconv.Itoa(c.CPUs)}, {"kernel's major version", c.Kernel}, {"placement", c.Placement},
		{"congestion control", c.CongestionControl}, {"windtunnel version", c.Windtunnel}, {"k6 version", c.K6}}
}

// Differences names the fields in which other differs, with both values; nil if the classes are the same.
func (c Class) Differences(other Class) []string {
	var all []string
	theirs := other.fields()
	for i, own := range c.fields() {
		switch {
		case own[1] == theirs[i][1] && isUnknown(own[1]):
			all = append(all, fmt.Sprintf("%s (%s, which equals nothing)", own[0], own[1]))
		case own[1] != theirs[i][1]:
			all = append(all, fmt.Sprintf("%s (%s and %s)", own[0], own[1], theirs[i][1]))
		}
	}
	return all
}

// String is the class in one line, for the reader.
func (c Class) String() string {
	return fmt.Sprintf("%s, %d CPUs, Linux %s, %s, congestion control %s, windtunnel %s, k6 %s", c.CPUModel, c.CPUs, c.Kernel, c.Placement,
		c.CongestionControl, c.Windtunnel, c.K6)
}

// Key identifies the class in file names: 12 letters and digits, the same for equal classes.
func (c Class) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", c.fields()))
	return fmt.Sprintf("%x", sum[:6])
}

// Here reads the part of this machine's class that is known before a run: hardware, kernel and congestion control. An
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
