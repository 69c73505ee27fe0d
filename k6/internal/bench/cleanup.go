// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/fault"
)

// setupTimeout is k6's exit code for a setup() that exceeded its timeout.
const setupTimeout = 100

// cleanUp removes the objects that an interrupted set-up made on a target that stays up, because k6 runs no teardown
// then. It runs scripts/SYSTEM/_cleanup.js, if the file exists, with the environment of the interrupted child.
func (b *session) cleanUp(j job, child children.K6, code int) {
	if b.interrupts.Any() || code == setupTimeout || code == children.Killed {
		b.runCleanUp(j, child)
	}
}

// runCleanUp runs the script that removes the objects of a run, if the system has one.
func (b *session) runCleanUp(j job, child children.K6) {
	script := filepath.Join("scripts", j.scenario.System, "_cleanup.js")
	if _, err := os.Stat(filepath.Join(b.Root, script)); err != nil {
		return
	}
	child.Script = script
	child.LogPath = j.log(".cleanup.log")
	child.Progress = func(string) {}
	child.Env = append(slices.Clone(child.Env), "K6_OUT=", "COORDINATOR_URL=") // cleaning up is no part of the measurement
	// Do not pass interrupts on: this script repairs the effect of an interrupt.
	child.Started, child.Ended = func(int) {}, func(int) {}
	code, message, err := child.Run()
	if err != nil {
		message = fmt.Sprint(fault.Reason(err))
	}
	if err != nil || code != 0 {
		b.screen.Error("%s: objects of its set-up may remain on the target: %s%s", j.scenario, message, b.removeWith(j, script))
	}
}

// removeWith returns the command that removes the remaining objects, for the end of a line; "" if they end with their
// testbed.
func (b *session) removeWith(j job, script string) string {
	if j.testbed != nil {
		return ""
	}
	return fmt.Sprintf("; to remove them, run: RUN_ID=%s ENV=%s bin/k6 run --quiet %s", j.runID, b.Env, script)
}
