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

// setupTimeout is k6's exit code for a setup() that took too long.
const setupTimeout = 100

// cleanUp removes from a target that stays up what a set-up made that was cut short: k6 runs no
// teardown then. It runs scripts/SYSTEM/_cleanup.js, where there is one, with the environment of
// the child that was cut.
func (b *session) cleanUp(j job, child children.K6, code int) {
	if b.interrupts.Any() || code == setupTimeout || code == children.Killed {
		b.runCleanUp(j, child)
	}
}

// runCleanUp runs the script that removes what a run made, where there is one.
func (b *session) runCleanUp(j job, child children.K6) {
	script := filepath.Join("scripts", j.scenario.System, "_cleanup.js")
	if _, err := os.Stat(filepath.Join(b.Root, script)); err != nil {
		return
	}
	child.Script = script
	child.LogPath = j.log(".cleanup.log")
	child.Progress = func(string) {}
	child.Env = append(slices.Clone(child.Env), "K6_OUT=", "COORDINATOR_URL=") // it is no part of what is measured
	// An interrupt is what this mends: it is not passed on.
	child.Started, child.Ended = func(int) {}, func(int) {}
	code, message, err := child.Run()
	if err != nil {
		message = fmt.Sprint(fault.Reason(err))
	}
	if err != nil || code != 0 {
		b.screen.Error("%s: what its set-up made may be left on the target: %s%s", j.scenario, message, b.removeWith(j, script))
	}
}

// removeWith is the command that removes what is left, for the end of a line; "" where it ends with its testbed.
func (b *session) removeWith(j job, script string) string {
	if j.testbed != nil {
		return ""
	}
	return fmt.Sprintf("; this removes it: RUN_ID=%s ENV=%s bin/k6 run --quiet %s", j.runID, b.Env, script)
}
