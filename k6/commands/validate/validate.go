// SPDX-License-Identifier: AGPL-3.0-only

// Package validate is `k6 x validate`: it checks environment, testbed and result files.
package validate

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/root"
)

func New(gs *state.GlobalState) *cobra.Command {
	var rootFlag string
	cmd := &cobra.Command{
		Use:   "validate [FILE|DIR]...",
		Short: "Check environment, testbed and result files and say how to fix them",
		Long: `Checks environment (.json), testbed (.toml) and result (.json) files against their
JSON Schemas, one line per problem; bin/sidecar, where it is built, checks the
checkout's own testbed files too. Without arguments: environments/*.json,
testbeds/*.toml, scripts/*/system.toml, scripts/*/thresholds.json, and the rows and
engines of testbeds/protocols of the checkout.

` + exit.Help,
	}
	cmd.Flags().StringVar(&rootFlag, "root", "", "the checkout (default: upward from here)")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		return Run(gs.Stdout, gs.Stderr, args, rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir)
	})
}

// Run checks files and folders, or the checkout's own files if paths is empty, and returns the exit code. dir is the
// current folder.
func Run(stdout, stderr io.Writer, paths []string, rootFlag, rootVariable, dir string) int {
	files, problems := collect(paths, rootFlag, rootVariable, dir)
	// Files outside the checkout may name testbeds of the checkout.
	checkout, _ := root.Find(rootFlag, rootVariable, dir)
	for _, f := range files {
		problems = append(problems, check.File(checkout, f.path, f.display)...)
	}
	for _, p := range problems {
		fmt.Fprintln(stderr, p)
	}
	if len(problems) > 0 {
		return exit.Usage
	}
	fmt.Fprintf(stdout, "%s valid\n", format.Plural(len(files), "file"))
	return exit.Pass
}

// file is a file to check and its name in messages.
type file struct{ path, display string }

// collect lists the files to check, sorted and without repetition, and the problems of finding them.
func collect(paths []string, rootFlag, rootVariable, dir string) ([]file, []string) {
	var files []file
	var problems []string
	if len(paths) == 0 {
		base, err := root.Find(rootFlag, rootVariable, dir)
		if err != nil {
			return nil, []string{err.Error()}
		}
		for _, pattern := range []string{"environments/*.json", "testbeds/*.toml", "scripts/*/thresholds.json", "scripts/*/system.toml", "testbeds/protocols/rows/*.toml", "testbeds/protocols/engines/*.toml"} {
			found, _ := fs.Glob(os.DirFS(base), pattern)
			for _, display := range found {
				files = append(files, file{filepath.Join(base, display), display})
			}
		}
		if len(files) == 0 {
			problems = append(problems, "no environments/*.json and no testbeds/*.toml in "+base)
		}
		return files, problems
	}
	for _, given := range paths {
		path := root.Absolute(given, dir)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			problems = append(problems, given+": no such file or folder")
		case info.IsDir():
			before := len(files)
			files = append(files, inFolder(path, given)...)
			if len(files) == before {
				problems = append(problems, given+": no .json or .toml file in it")
			}
		case !known(path):
			problems = append(problems, given+": must be a .json or .toml file")
		default:
			files = append(files, file{path, given})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(files, func(a, b file) bool { return a.path == b.path }), problems
}

// inFolder lists the .json and .toml files of a folder without its subfolders, which hold logs and templates.
func inFolder(path, display string) []file {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	var files []file
	for _, entry := range entries {
		regular := entry.Type().IsRegular() || entry.Type()&fs.ModeSymlink != 0
		if regular && known(entry.Name()) {
			files = append(files, file{filepath.Join(path, entry.Name()), filepath.Join(display, entry.Name())})
		}
	}
	return files
}

func known(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".json" || ext == ".toml"
}
