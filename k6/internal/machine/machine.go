// SPDX-License-Identifier: AGPL-3.0-only

// Package machine tells which runs were made on machines of one class: whose figures may be held against each other although
// they did not take turns. docs/how-to/baselines.md says what is part of a class, and why.
package machine

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/result"
)

// unknown stands for what a result does not tell.
const unknown = "unknown"

// Class is what makes figures and is no part of the system under test. Two classes are the same where all fields are known and the
// same.
type Class struct {
	CPUModel          string `json:"cpu_model"`
	CPUs              int    `json:"cpus"`
	Kernel            string `json:"kernel"` // its major version, such as 6
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

// architectures stood in results of before an ARM machine's implementer and part did: they tell no machine.
var architectures = []string{"aarch64", "arm", "x86_64", "x86", "riscv64"}

// isUnknown reports whether a field's value says nothing, and so is no other's equal; no machine has 0 CPUs.
func isUnknown(value string) bool { return value == unknown || value == "0" }

func known(text string) string {
	if text == "" || slices.Contains(architectures, text) {
		return unknown
	}
	return text
}

// count is 0 where it is unknown.
func count(cpus *int) int {
	if cpus == nil {
		return 0
	}
	return *cpus
}

// Unknown names the facts of a host that its result does not tell. Such a fact equals no other host's.
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

// fields are the names of a class's fields and their values, in one order.
func (c Class) fields() [][2]string {
	return [][2]string{{"CPU model", c.CPUModel}, {"CPUs", strconv.Itoa(c.CPUs)}, {"kernel's major version", c.Kernel}, {"placement", c.Placement},
		{"congestion control", c.CongestionControl}, {"windtunnel version", c.Windtunnel}, {"k6 version", c.K6}}
}

// Differences name the fields in which other is of another class, with both values; none where it is of this one.
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

// String is the class on one line, for people.
func (c Class) String() string {
	return fmt.Sprintf("%s, %d CPUs, Linux %s, %s, congestion control %s, windtunnel %s, k6 %s", c.CPUModel, c.CPUs, c.Kernel, c.Placement,
		c.CongestionControl, c.Windtunnel, c.K6)
}

// Key names the class in files: of 12 letters and digits, the same for the same class.
func (c Class) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", c.fields()))
	return fmt.Sprintf("%x", sum[:6])
}
