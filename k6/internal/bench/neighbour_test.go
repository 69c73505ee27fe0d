// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"windtunnel/k6/internal/exit"
)

// startOther runs the slow scenario in a separate bench until the test ends.
func startOther(t *testing.T) (pid int, root string) {
	t.Helper()
	other := newTrial(t, "local", "pulsar/slow")
	cmd := exec.Command(os.Args[0], "bench", other.Root, "pulsar/slow")
	cmd.Env = append(os.Environ(), "FAKE_EVENTS="+other.events, "HOME="+other.Root, "BESIDE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	eventually(t, "the other bench runs", other.k6Runs)
	return cmd.Process.Pid, other.Root
}

func TestTwoBenchesOnTheSameCPUsNoticeEachOther(t *testing.T) {
	pid, root := startOther(t)
	alone := newTrial(t, "local", "pulsar/passes", "BESIDE=")
	if code := Run(alone.Options); code != exit.Setup {
		t.Errorf("code %d\n%s%s", code, alone.out, alone.err)
	}
	said := alone.err.String()
	want(t, said, fmt.Sprintf("pid %d in %s", pid, root), "wait for its end", "BESIDE=1")
	if strings.Count(strings.TrimSpace(said), "\n") != 0 {
		t.Errorf("more than one line: %s", said)
	}
	if _, err := os.Stat(alone.Root + "/results/test"); err == nil {
		t.Error("the refused run left a folder")
	}
	beside := newTrial(t, "local", "pulsar/passes", "BESIDE=1")
	if code := Run(beside.Options); code != exit.Pass {
		t.Errorf("BESIDE=1: code %d\n%s%s", code, beside.out, beside.err)
	}
	want(t, beside.err.String(), fmt.Sprintf("pid %d", pid))
}
