// SPDX-License-Identifier: AGPL-3.0-only

// Package startup sets the process up before k6 reads its environment.
package startup

import (
	"os"
	"strconv"
)

// Prepare sets two environment variables of this process. Pinned means pinned: an unknown import or
// subcommand is an error, not a reason for k6 to ask a build service for another binary. And
// GENERATOR_PID tells a script, which has no other way to know, whose CPU time the load costs.
func Prepare() error {
	if _, ok := os.LookupEnv("K6_AUTO_EXTENSION_RESOLUTION"); !ok {
		if err := os.Setenv("K6_AUTO_EXTENSION_RESOLUTION", "false"); err != nil {
			return err
		}
	}
	return os.Setenv("GENERATOR_PID", strconv.Itoa(os.Getpid()))
}
