// SPDX-License-Identifier: AGPL-3.0-only

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/cpus"
)

// write puts files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	base := t.TempDir()
	for name, text := range files {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// expect compares a finding's state, and looks for words in what it says.
func expect(t *testing.T, f Finding, state State, words ...string) {
	t.Helper()
	said := strings.Join([]string{f.Found, f.Without, f.Fix}, "; ")
	if f.State != state {
		t.Errorf("%s is %s: %s", f.Name, f.State, said)
	}
	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("%s: %q is not in %q", f.Name, word, said)
		}
	}
	if f.State != OK && f.Without == "" && !strings.HasPrefix(f.Found, "unknown") {
		t.Errorf("%s says nothing of what suffers", f.Name)
	}
}

func TestLimitsThatClientsDoNotFitInto(t *testing.T) {
	expect(t, filesOf(1<<20), OK, "1048576")
	expect(t, filesOf(1024), Limited, "about 256 clients", "10000")
}

func TestGovernorsAndClocks(t *testing.T) {
	const folder = "devices/system/cpu/cpu%d/cpufreq/scaling_governor"
	expect(t, governor(t.TempDir()), OK, "virtual")
	expect(t, governor(write(t, map[string]string{fmt.Sprintf(folder, 0): "performance\n"})), OK, "performance")
	expect(t, governor(write(t, map[string]string{fmt.Sprintf(folder, 0): "performance\n", fmt.Sprintf(folder, 1): "powersave\n"})), Limited, "performance, powersave", "cpupower")
	const source = "devices/system/clocksource/clocksource0/current_clocksource"
	expect(t, clock(write(t, map[string]string{source: "tsc\n"})), OK, "tsc")
	expect(t, clock(write(t, map[string]string{source: "hpet\n"})), Limited, "hpet", "microsecond")
	expect(t, clock(t.TempDir()), Limited, "unknown")
}

func TestMemory(t *testing.T) {
	expect(t, memory(filepath.Join(write(t, map[string]string{"m": "MemTotal: 9 kB\nMemAvailable: 8388608 kB\n"}), "m")), OK, "8192 MiB")
	expect(t, memory(filepath.Join(write(t, map[string]string{"m": "MemAvailable: 512000 kB\n"}), "m")), Limited, "500 MiB")
	expect(t, memory("/nowhere"), Limited, "unknown")
}

func TestNeighbours(t *testing.T) {
	expect(t, benches(nil), OK)
	expect(t, benches([]string{"pid 7 in /a/results/run"}), Limited, "pid 7", "refused")
	expect(t, busy(load{known: true, percent: 2}), OK)
	expect(t, busy(load{known: true, percent: 60, most: "cargo (pid 9)", cpus: 1.2}), Limited, "60 %", "cargo (pid 9) uses 1.2 CPUs")
	expect(t, busy(load{}), Limited, "unknown")
	expect(t, steal(cpus.Machine{Count: 1, Busy: 210, Idle: 790, Steal: 10}), Limited, "1.0 %")
	expect(t, steal(cpus.Machine{Count: 1, Busy: 201, Idle: 799, Steal: 1}), OK, "0.1 %")
	expect(t, steal(cpus.Machine{}), Limited, "unknown")
}

func TestWhoUsesTheCPUsIsNamed(t *testing.T) {
	ticks := ticksOf(write(t, map[string]string{
		"12/stat": "12 (a (b) c) R 1 1 1 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 5 1 1\n",
		"13/stat": "cut",
	}))
	if len(ticks) != 1 || ticks[12] != (process{"a (b) c", 42}) {
		t.Errorf("%v", ticks)
	}
}

func TestProgramsOfTheCheckout(t *testing.T) {
	base := write(t, map[string]string{"bin/k6": "", "setup/prerequisites": "#!/bin/sh\ntest $2 = bench || { echo \"make: missing or too old: gcc\" >&2; exit 4; }\n"})
	found := programs(base)
	expect(t, found[0], OK)
	expect(t, found[1], Missing, "no scenario", "make bin/sidecar")
	if !Stopped([]Section{{"Programs", found}}) || Stopped([]Section{{"Programs", found[:1]}}) {
		t.Error("a missing sidecar stops everything, and alone")
	}
	built := prerequisites(base)
	expect(t, built[0], OK)
	expect(t, built[1], Missing, "missing or too old: gcc", "make setup")
	expect(t, prerequisites(t.TempDir())[0], OK, "release")
}

func TestTheMachineIsExamined(t *testing.T) {
	sections := Examine(t.TempDir())
	text := Text(sections)
	for _, name := range []string{"network namespaces", "TUN device", "transparent proxy", "sshd", "CPUs", "open files", "perf", "clock", "CPU governor", "other benches", "other programs"} {
		if strings.Count(text, " "+name+" ") < 1 {
			t.Errorf("%s is not in\n%s", name, text)
		}
	}
	if !strings.HasSuffix(text, ": nothing can run here yet\n") {
		t.Error(text)
	}
	for _, s := range sections {
		for _, f := range s.Findings {
			expect(t, f, f.State)
		}
	}
}
