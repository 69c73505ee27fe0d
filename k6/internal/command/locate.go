// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/seq"
)

// Locate makes paths absolute from dir. If a path is no file, it may be the name of a run in the checkout, which dir or
// variable (the value of WINDTUNNEL_ROOT) gives.
func Locate(given []string, dir, variable string) []string {
	base, err := root.Find("", variable, dir)
	return seq.Map(given, func(name string) string {
		path, run := root.Absolute(name, dir), filepath.Join(base, "results", name)
		if !exists(path) && !strings.ContainsAny(name, `/\`) && err == nil && exists(run) {
			return run
		}
		return path
	})
}

// Display is a path as a reader in a folder sees it: relative, if it is in that folder.
func Display(path, folder string) string {
	if relative, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}

// Environ is an environment as programs take it, sorted.
func Environ(env map[string]string) (pairs []string) {
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// program is the name before our commands: `k6 x` for subcommands of k6, or `windtunnel`.
var program = "k6 x"

const calledAs = "windtunnel"

// CalledByDoor makes messages call our commands by the front door's name; it is called before any of them is made.
func CalledByDoor() { program = calledAs }

// See says where the help of a command is.
func See(name string) string { return "see " + program + " " + name + " --help" }
