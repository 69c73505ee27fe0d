// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/cleanup"
)

// setupTimeout is k6's exit code for a setup() that exceeded its timeout.
const setupTimeout = 100

// cleanUp removes the objects that an interrupted set-up made on a target that stays up, because k6 runs no teardown
// then.
func (b *session) cleanUp(j job, child children.K6, code int) {
	if b.interrupts.Any() || code == setupTimeout || code == children.Killed {
		b.runCleanUp(j, child)
	}
}

// runCleanUp removes the objects of a run, with the environment of its k6.
func (b *session) runCleanUp(j job, child children.K6) {
	script := cleanup.ScriptOf(b.Root, j.scenario.System, j.scenario.Name)
	if script == "" {
		return
	}
	child.LogPath = j.log(".cleanup.log")
	if why := cleanup.Run(child, script); why != "" {
		b.screen.Error("%s: objects of its set-up may remain on the target: %s%s", j.scenario, why, b.removeWith(j))
	}
}

// removeWith returns the command that removes the remaining objects, for the end of a line; "" if they end with their
// testbed.
func (b *session) removeWith(j job) string {
	if j.testbed != nil {
		return ""
	}
	return "; to remove them, run: " + cleanup.Command(j.runID, j.scenario.System, b.Env)
}
