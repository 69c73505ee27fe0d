// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/testsupport/busy"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !busy.Until(30*time.Second, holds) {
		t.Fatalf("never: %s", what)
	}
}

// childrenOf lists the processes of a parent, from /proc.
func childrenOf(parent int) []int {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/task/" + strconv.Itoa(parent) + "/children")
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(parent) + "/task/*/children")
	for _, task := range tasks {
		more, _ := os.ReadFile(task)
		data = append(data, more...)
	}
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		pid, _ := strconv.Atoi(field)
		pids = append(pids, pid)
	}
	return pids
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// k6Runs reports whether the slow scenario iterates.
func (tr *trial) k6Runs() bool {
	data, _ := os.ReadFile(filepath.Join(tr.Root, "results/test/logs/pulsar-slow.k6.log"))
	return strings.Contains(string(data), "running (")
}

func TestInterruptWritesWhatItHas(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/slow,pulsar/passes")
	code := make(chan int)
	go func() { code <- Run(tr.Options) }()
	eventually(t, "k6 runs", tr.k6Runs)
	tr.signals <- syscall.SIGINT
	select {
	case got := <-code:
		if got != exit.Interrupted {
			t.Errorf("code %d\n%s%s", got, tr.out, tr.err)
		}
	case <-busy.After(t.Context(), 30*time.Second):
		t.Fatal("the bench did not end")
	}
	if got := tr.outcomes(t); got != "slow interrupted, passes skipped" {
		t.Errorf("outcomes %q", got)
	}
	want(t, tr.err.String(), "interrupted: k6 cleans up and writes what it has")
	want(t, tr.text(t, "results/test/logs/pulsar-slow.k6.log"), "teardown ran")
	want(t, tr.out.String(), "verdict: interrupted\n")
	want(t, tr.text(t, "results/test/report.md"), "interrupted; the result is partial", "interrupted before its turn")
	want(t, tr.text(t, "events"), "delete i1", "end")
	if r := tr.record(t); r.ExitCode == nil || *r.ExitCode != exit.Interrupted || r.Scenarios[0].Result == "" {
		t.Errorf("record %+v", r)
	}
}

func TestSidecarDiesInMidRun(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/slow,pulsar/passes")
	code := make(chan int)
	go func() { code <- Run(tr.Options) }()
	eventually(t, "k6 runs", tr.k6Runs)
	var pid int
	if _, err := fmt.Sscanf(tr.text(t, "events"), "pid %d", &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-code: // long before the scenario's minute has passed
		if got != exit.Setup {
			t.Errorf("code %d\n%s%s", got, tr.out, tr.err)
		}
	case <-busy.After(t.Context(), 25*time.Second):
		t.Fatal("k6 went on")
	}
	if got := tr.outcomes(t); got != "slow set-up failed: bench, passes skipped" {
		t.Errorf("outcomes %q", got)
	}
	want(t, tr.out.String(), "pulsar/slow: set-up failed: the sidecar ended (signal: killed)", "verdict: set-up failed\n")
	want(t, tr.err.String(), "pulsar/slow: the sidecar ended: stopping k6\n")
	want(t, tr.text(t, "results/test/logs/pulsar-slow.k6.log"), "teardown ran")
	if report := tr.text(t, "results/test/report.md"); strings.Contains(report, "fixture says") {
		t.Errorf("blames the system:\n%s", report)
	}
}

func TestSecondInterruptStopsAtOnce(t *testing.T) {
	tr := newTrial(t, "loop", "pulsar/slow")
	slow := strings.Replace(tr.text(t, "scripts/pulsar/slow.js"), "console.log('teardown ran')", "console.log('in teardown'); sleep(60)", 1)
	write(t, tr, "scripts/pulsar/slow.js", slow)
	code := make(chan int)
	go func() { code <- Run(tr.Options) }()
	eventually(t, "k6 runs", tr.k6Runs)
	tr.signals <- syscall.SIGINT
	eventually(t, "teardown", func() bool {
		return strings.Contains(tr.text(t, "results/test/logs/pulsar-slow.k6.log"), "in teardown")
	})
	tr.signals <- syscall.SIGINT
	select {
	case got := <-code:
		if got != exit.Interrupted {
			t.Errorf("code %d", got)
		}
	case <-busy.After(t.Context(), 30*time.Second):
		t.Fatal("the bench did not end")
	}
	want(t, tr.outcomes(t), "slow interrupted")
}

// TestNothingOutlivesTheBench kills a whole bench with SIGKILL and looks for survivors.
func TestNothingOutlivesTheBench(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/slow")
	cmd := exec.Command(tr.K6, "bench", tr.Root, "pulsar/slow")
	cmd.Env = append(os.Environ(), "FAKE_EVENTS="+tr.events)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "k6 runs", tr.k6Runs)
	pids := childrenOf(cmd.Process.Pid)
	if len(pids) < 2 {
		t.Fatalf("%d children, want k6 and the sidecar", len(pids))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range pids {
		eventually(t, "child ends", func() bool { return !alive(pid) })
	}
	want(t, tr.text(t, "events"), "end")
}
