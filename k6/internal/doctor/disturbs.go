// SPDX-License-Identifier: AGPL-3.0-only

package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/neighbour"
)

const lookFor = time.Second

// busyFrom is from which share of all CPUs, percent, other programs disturb.
const busyFrom = 5

// others looks for other benches, and for other programs that use the CPUs.
func others() []Finding {
	return []Finding{benches(neighbour.Others()), busy(watch("/proc", lookFor))}
}

func benches(lines []string) Finding {
	if len(lines) == 0 {
		return ok("other benches", "none")
	}
	return Finding{Name: "other benches", State: Limited, Found: strings.Join(lines, "; "), Without: "a bench on the same CPUs is refused, because each would measure the other",
		Fix: "wait for its end, or give each bench separate CPUs (taskset)"}
}

type load struct {
	known   bool
	percent float64 // of all CPUs
	most    string  // the process that used most
	cpus    float64 // how many CPUs it used
}

func watch(proc string, span time.Duration) load {
	before, ticks := cpus.OfMachine(), ticksOf(proc)
	time.Sleep(span)
	after := cpus.OfMachine()
	l := load{}
	l.percent, l.known = after.BusyPercent(before)
	const ticksPerSecond = 100 // USER_HZ, which is the same on all machines that Go knows
	for pid, now := range ticksOf(proc) {
		if used := float64(now.ticks-ticks[pid].ticks) / ticksPerSecond / span.Seconds(); pid != os.Getpid() && ticks[pid].name == now.name && used > l.cpus {
			l.most, l.cpus = fmt.Sprintf("%s (pid %d)", now.name, pid), used
		}
	}
	return l
}

func busy(l load) Finding {
	switch {
	case !l.known:
		return Finding{Name: "other programs", State: Limited, Found: "unknown: the kernel does not say what the CPUs do"}
	case l.percent < busyFrom:
		return ok("other programs", "the CPUs are %.0f %% busy", l.percent)
	}
	f := Finding{Name: "other programs", State: Limited, Found: fmt.Sprintf("the CPUs are %.0f %% busy", l.percent),
		Without: "parts that others disturb are measured again, and a run that stays disturbed is inconclusive", Fix: "wait, or end other programs"}
	if l.most != "" {
		f.Found += fmt.Sprintf("; %s uses %.1f CPUs", l.most, l.cpus)
	}
	return f
}

type process struct {
	name  string
	ticks int
}

func ticksOf(proc string) map[int]process {
	all := map[int]process{}
	paths, _ := filepath.Glob(filepath.Join(proc, "[0-9]*/stat"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		if err != nil || begin < 0 || end < begin {
			continue // it has ended
		}
		// Behind the name come state, ppid, and so on: user and system time are the 12th and the 13th.
		fields := strings.Fields(string(text[end+1:]))
		if len(fields) < 13 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		all[pid] = process{string(text[begin+1 : end]), user + system}
	}
	return all
}

// stealFrom is from which share of all time, percent, a hypervisor disturbs.
const stealFrom = 1

// steal is how much time the hypervisor took since the machine started.
func steal(m cpus.Machine) Finding {
	if m.Count == 0 {
		return Finding{Name: "hypervisor", State: Limited, Found: "unknown: the kernel does not say what it took"}
	}
	percent := 100 * m.Steal / max(m.Busy+m.Idle, 1)
	if percent < stealFrom {
		return ok("hypervisor", "the hypervisor took %.1f %% of CPU time since boot", percent)
	}
	return Finding{Name: "hypervisor", State: Limited, Found: fmt.Sprintf("the hypervisor took %.1f %% of CPU time since boot", percent),
		Without: "latencies show the hypervisor's other guests", Fix: "use a machine, or an instance type, with CPUs of its own"}
}
