// SPDX-License-Identifier: AGPL-3.0-only

// Package root finds the checkout that a command works in.
package root

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNotFound means that neither the current folder nor any folder above it is a checkout.
var ErrNotFound = errors.New("no folder with scripts/ and environments/ here or above; give --root or set WINDTUNNEL_ROOT")

// Find returns the absolute path of the root: flag, or else variable (the value of WINDTUNNEL_ROOT), or else the first
// folder upward from dir that has scripts/ and environments/.
func Find(flag, variable, dir string) (string, error) {
	for _, given := range []string{flag, variable} {
		if given == "" {
			continue
		}
		if given = Absolute(given, dir); !isRoot(given) {
			return "", fmt.Errorf("%s is not a Windtunnel checkout: it has no scripts/ and environments/", given)
		}
		return filepath.Clean(given), nil
	}
	for {
		if isRoot(dir) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNotFound
		}
		dir = parent
	}
}

// Absolute makes a path absolute that was given in a folder.
func Absolute(path, folder string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

func isRoot(dir string) bool {
	for _, name := range []string{"scripts", "environments"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
