// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"os"
	"path/filepath"
	"strings"

	"windtunnel/k6/internal/root"
)

// Locate makes paths absolute from dir. If a path is no file, it may be the name of a run in the checkout, which dir or
// variable (the value of WINDTUNNEL_ROOT) gives.
func Locate(given []string, dir, variable string) []string {
	paths := make([]string, len(given))
	for i, name := range given {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if !exists(path) && !strings.ContainsAny(name, `/\`) {
			if base, err := root.Find("", variable, dir); err == nil {
				if run := filepath.Join(base, "results", name); exists(run) {
					path = run
				}
			}
		}
		paths[i] = path
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
