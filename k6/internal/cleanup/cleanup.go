// SPDX-License-Identifier: AGPL-3.0-only

// Package cleanup removes from targets that stay up what runs left on them, such as users. A system that can leave something has a
// script scripts/SYSTEM/_cleanup.js. If only one of its scenarios can, it has scripts/SYSTEM/_cleanup-SCENARIO.js.
package cleanup

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/listing"
)

// ScriptOf is the path of the script that removes what a scenario left, from the root of the checkout; "" if it leaves nothing. An
// empty name stands for any scenario of the system.
func ScriptOf(root, system, scenario string) string {
	folder := filepath.Join("scripts", system)
	for _, pattern := range []string{"_cleanup.js", "_cleanup-" + cmp.Or(scenario, "*") + ".js"} {
		if found := listing.In(filepath.Join(root, folder), pattern); len(found) > 0 {
			return filepath.Join(folder, filepath.Base(found[0]))
		}
	}
	return ""
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
