// SPDX-License-Identifier: AGPL-3.0-only

// Package cleanup removes from targets that stay up what runs left on them, such as users. A system that can leave something has a
// script scripts/SYSTEM/_cleanup.js.
package cleanup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
)

// ScriptOf is the path of a system's script, from the root of the checkout; "" if the system leaves nothing.
func ScriptOf(root, system string) string {
	script := filepath.Join("scripts", system, "_cleanup.js")
	if _, err := os.Stat(filepath.Join(root, script)); err != nil {
		return ""
	}
	return script
}

// Run runs the script by a k6 with the environment of the run. It returns why something may be left, "" if nothing is.
func Run(k6 children.K6, script string) (why string) {
	k6.Script = script
	k6.Env = append(slices.Clone(k6.Env), "K6_OUT=", "COORDINATOR_URL=") // cleaning up is no part of the measurement
	k6.Progress, k6.Report = func(string) {}, func(influx.Report) {}
	// Interrupts are not passed on: the script repairs the effect of an interrupt.
	k6.Started, k6.Ended = func(int) {}, func(int) {}
	switch code, message, err := k6.Run(); {
	case err != nil:
		return fmt.Sprint(exit.Reason(err))
	case code != 0 && message == "":
		return fmt.Sprintf("k6 ended with exit code %d", code)
	case code != 0:
		return message
	}
	return ""
}

// Command is what a user types to remove the rest; lib/leftovers.js writes the same.
func Command(runID, system, env string) string {
	return fmt.Sprintf("bin/windtunnel clean-up %s --system %s --env %s", runID, system, env)
}
