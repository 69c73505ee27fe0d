// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/cleanup"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// settle sets the outcome from k6's exit code, its last error message and its result. It returns the same as attempt.
func (b *session) settle(j job, code int, message string, entry *run.Scenario) (broken string) {
	path := j.file(".json")
	name := filepath.Base(path)
	measured, err := result.Read(path)
	if message == "" {
		message = "see logs/" + filepath.Base(j.log(".k6.log"))
	}
	ended := fmt.Sprintf("k6 ended with exit code %d", code)
	if code == children.Killed {
		ended = "k6 was killed"
	}
	if err == nil {
		entry.Result = name
	}
	switch {
	case b.interrupts.Any():
		entry.Outcome, entry.Message = run.Interrupted, "interrupted; there is no result"
		if err == nil {
			entry.Message = "interrupted; the result is partial"
		}
	case j.needsSidecar() && !b.sidecar.Alive():
		setupFailed(entry, run.OfBench, b.sidecar.Ended().Error()+"; its testbeds and probes ended with it, so the figures say nothing about the system")
		return entry.Message
	case err != nil && isMissing(path):
		cause := run.OfBench
		if slices.Contains(setUpFails, code) {
			cause = run.OfSetUp
		}
		if code == exit.Pass || code == exit.Fail || code == children.Killed {
			message = fmt.Sprintf("%s and wrote no %s; %s", ended, name, message)
		}
		setupFailed(entry, cause, message)
	case err != nil:
		setupFailed(entry, run.OfBench, "malformed result: "+err.Error())
	case measured.Name() != j.scenario.String() || measured.Run.ID != j.runID:
		entry.Result = ""
		setupFailed(entry, run.OfBench, fmt.Sprintf("malformed result: %s says that it is %s of run %s", name,
			measured.Name(), measured.Run.ID))
	case code == scriptAborted && measured.Verdict == result.Inconclusive:
		entry.Outcome, entry.Message = run.Inconclusive, message
		if !measured.HasMeasured() {
			setupFailed(entry, run.OfSetUp, message)
		}
	default:
		entry.Outcome, entry.Message = judge.Ended(code, ended, message, measured)
	}
	return ""
}

// k6's exit codes for an exception of a script, and for exec.test.abort.
const (
	scriptException = 107
	scriptAborted   = 108
)

// externallyAborted is k6's exit code after a signal.
const externallyAborted = 105

// setUpFails are k6's exit codes if a set-up could not reach the system.
var setUpFails = []int{setupTimeout, scriptException, scriptAborted}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

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
