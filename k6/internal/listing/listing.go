// SPDX-License-Identifier: AGPL-3.0-only

// Package listing finds files in a folder whose own name may have the special characters of a pattern, such as [x].
package listing

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"windtunnel/k6/internal/seq"
)

// In returns the paths in a folder that match a pattern of io/fs, in order; nil if there is none or the folder cannot be
// read. A malformed pattern is a fault of the caller.
func In(dir, pattern string) []string {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	if err != nil {
		panic(err)
	}
	return seq.Map(names, func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) })
}

// Stems are the names of a folder's files with an ending, without it, in order.
func Stems(dir, ending string) []string {
	return seq.Map(In(dir, "*"+ending), func(path string) string { return strings.TrimSuffix(filepath.Base(path), ending) })
}

// Folders are the names of the folders in a folder, in order.
func Folders(dir string) []string {
	entries, _ := os.ReadDir(dir)
	return seq.Map(seq.Filter(entries, fs.DirEntry.IsDir), fs.DirEntry.Name)
}
