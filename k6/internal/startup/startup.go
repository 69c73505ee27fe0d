// SPDX-License-Identifier: AGPL-3.0-only

// Package startup sets the process up before k6 reads its environment.
package startup

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"windtunnel/k6/internal/ambient"
	"windtunnel/k6/internal/variables"
)

// Prepare removes ambient settings from a k6 that measures, and sets two environment variables of this process. The
// first disables automatic extensions: this build is pinned, so an unknown import or subcommand is an error, and k6 must
// not ask a build service for another binary. The second, GENERATOR_PID, tells scripts the process whose CPU time is the
// generator's.
func Prepare() error {
	if measures(os.Args[1:]) {
		if err := withoutAmbient(); err != nil {
			return err
		}
		if line := variables.FromShellLine(os.Environ()); line != "" {
			fmt.Fprintln(os.Stderr, line)
		}
	}
	if _, ok := os.LookupEnv("K6_AUTO_EXTENSION_RESOLUTION"); !ok {
		if err := os.Setenv("K6_AUTO_EXTENSION_RESOLUTION", "false"); err != nil {
			return err
		}
	}
	return os.Setenv("GENERATOR_PID", strconv.Itoa(os.Getpid()))
}

// measures reports whether the arguments are those of `k6 run`. A bench removes ambient settings itself.
func measures(args []string) bool {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg == "run"
		}
	}
	return false
}

// withoutAmbient restarts this program if its environment has ambient settings: Go reads some of them before main.
func withoutAmbient() error {
	kept, left := ambient.Without(os.Environ())
	if len(left) == 0 {
		return nil
	}
	fmt.Fprintln(os.Stderr, ambient.Line(os.Environ()))
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, kept)
}
