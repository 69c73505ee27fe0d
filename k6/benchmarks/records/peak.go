// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// spent is the cost of a process. The peak is sampled every few ms from the process's own memory: the peak of wait4
// includes the memory of this process at the time of the fork.
type spent struct {
	seconds, cpuS float64
	peakBytes     int64
}

const lookEvery = 5 * time.Millisecond

// runWatched runs a process to its end. The error includes the output of the process.
func runWatched(child *exec.Cmd) (took spent, out []byte, err error) {
	var said bytes.Buffer
	var result bytes.Buffer
	child.Stdout, child.Stderr = &result, &said
	began := time.Now()
	if err := child.Start(); err != nil {
		return took, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-look.C:
			took.peakBytes = max(took.peakBytes, peakOf(child.Process.Pid))
		}
	}
	took.seconds = time.Since(began).Seconds()
	took.cpuS = (child.ProcessState.UserTime() + child.ProcessState.SystemTime()).Seconds()
	if err != nil {
		err = fmt.Errorf("%w: %s%s", err, result.String(), said.String())
	}
	return took, result.Bytes(), err
}

// peakOf returns VmHWM of a process, 0 if the process has ended.
func peakOf(pid int) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
