// SPDX-License-Identifier: AGPL-3.0-only

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/variables"
)

func cpuCount() Finding {
	allowed, share := cpus.Allowed(), cpus.Share()
	f := ok("CPUs", "%d (%s)", len(allowed), cpus.List(allowed))
	switch {
	case share < float64(len(allowed)):
		f.State = Limited
		f.Found += fmt.Sprintf(", and a quota of %.2g of them", share)
		f.Without = "a process that has used up its quota is stopped for a while: latencies then show the quota, not the system"
		f.Fix = "give the container whole CPUs (a cpuset), and no quota"
	case len(allowed) == 1:
		f.State = Limited
		f.Without = "the load generator and the system share the CPU: PLACEMENT=split cannot run, and throughput is that of both"
		f.Fix = "allow a second CPU"
	}
	return f
}

// filesPerClient is how many descriptors the machine needs for a client at most: its socket, and both ends of a proxy.
const filesPerClient = 4

func files() Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return Finding{Name: "open files", State: Limited, Found: fmt.Sprintf("unknown: %v", err)}
	}
	return filesOf(limit.Max)
}

// filesOf judges the hard limit: the runners raise the soft one to it.
func filesOf(most uint64) Finding {
	clients := uint64(variables.Most("CLIENTS"))
	if most >= clients*filesPerClient {
		return ok("open files", "at most %d in each process", min(most, 1<<40))
	}
	return Finding{Name: "open files", State: Limited, Found: fmt.Sprintf("at most %d in each process", most),
		Without: fmt.Sprintf("about %d clients or tunnels fit, and CLIENTS may be up to %d", most/filesPerClient, clients), Fix: "ulimit -Hn, or LimitNOFILE= of the service"}
}

// leastMemory is what a bench of every system takes at once, MiB.
const leastMemory = 1500

func memory(path string) Finding {
	text, err := os.ReadFile(path)
	available := -1
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemAvailable:" {
			kib, _ := strconv.Atoi(fields[1])
			available = kib / 1024
		}
	}
	switch {
	case err != nil || available < 0:
		return Finding{Name: "memory", State: Limited, Found: "unknown: the kernel does not say how much is available"}
	case available < leastMemory:
		return Finding{Name: "memory", State: Limited, Found: fmt.Sprintf("%d MiB available", available),
			Without: fmt.Sprintf("a bench takes up to %d MiB, and building the runners more", leastMemory), Fix: "end other programs"}
	}
	return ok("memory", "%d MiB available", available)
}

// perf asks the kernel for a counter of CPU cycles of this process.
func perf() Finding {
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_CPU_CYCLES, Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	attributes.Size = uint32(unix.PERF_ATTR_SIZE_VER5)
	counter, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		_ = unix.Close(counter)
		return ok("perf", "the kernel counts CPU cycles for this user")
	}
	f := Finding{Name: "perf", State: Limited, Found: fmt.Sprintf("no counter of CPU cycles: %v", err),
		Without: "only CPU time is measured, and a profiler such as perf record sees no cycles"}
	switch err {
	case unix.EACCES, unix.EPERM:
		f.Fix = "sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON"
	case unix.ENOENT, unix.ENODEV, unix.EOPNOTSUPP:
		f.Fix = "nothing here: the virtual machine has no such counters"
	}
	return f
}

func clock(sys string) Finding {
	text, err := os.ReadFile(filepath.Join(sys, "devices/system/clocksource/clocksource0/current_clocksource"))
	source := strings.TrimSpace(string(text))
	switch {
	case err != nil || source == "":
		return Finding{Name: "clock", State: Limited, Found: "unknown: the kernel does not name its clock"}
	case slices.Contains([]string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}, source):
		return ok("clock", "%s", source)
	}
	return Finding{Name: "clock", State: Limited, Found: source, Without: "each clock reading takes about a microsecond, which distorts short round trips",
		Fix: "boot with another clock, such as clocksource=tsc"}
}

func governor(sys string) Finding {
	paths, _ := filepath.Glob(filepath.Join(sys, "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	var found []string
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		if name := strings.TrimSpace(string(text)); name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	switch {
	case len(found) == 0:
		return ok("CPU governor", "this machine shows no governor, as most virtual machines")
	case len(found) == 1 && found[0] == "performance":
		return ok("CPU governor", "performance")
	}
	return Finding{Name: "CPU governor", State: Limited, Found: strings.Join(found, ", "),
		Without: "a CPU that was idle begins slowly, so that light load looks slower than heavy load", Fix: "cpupower frequency-set -g performance"}
}
