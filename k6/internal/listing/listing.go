// SPDX-License-Identifier: AGPL-3.0-only

// Package listing finds files in a folder whose own name may have the special characters of a pattern, such as [x].
package listing

import (
	"io/fs"
	"os"
	"path/filepath"
)

// In returns the paths in a folder that match a pattern of io/fs, in order; nil if there is none or the folder cannot be
// read. A malformed pattern is a fault of the caller.
func In(dir, pattern string) []string {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	if err != nil {
		panic(err)
	}
	paths := make([]string, 0, len(names))
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return paths
}
