// SPDX-License-Identifier: AGPL-3.0-only

// Package primitives is `k6 x primitives`: it tells which cipher is the faster one.
package primitives

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/primitives"
)

func init() {
	subcommand.RegisterExtension("primitives", New)
}

// New returns the command.
func New(gs *state.GlobalState) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "primitives DIR",
		Short: "Tell which cipher of a run of `sidecar bench primitives` is the faster one",
		Long: `Compares AES-256-GCM and ChaCha20-Poly1305 at each size by the rounds of a run of
sidecar bench primitives --out DIR, all together, with the engine of all comparisons. Adds
the winners to DIR/primitives.json and their table to DIR/primitives.md, and prints it.
Of few rounds none can be told.

` + exitcode.Help,
	}
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		return Run(gs.Stdout, gs.Stderr, args, dir)
	})
}

// Run judges the run in a folder; dir is the current one. It returns the exit code.
func Run(stdout, stderr io.Writer, args []string, dir string) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "one folder is wanted, such as results/primitives-20260102T030405Z; see k6 x primitives --help")
		return exitcode.Usage
	}
	folder := args[0]
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	path, page := filepath.Join(folder, "primitives.json"), filepath.Join(folder, "primitives.md")
	for _, file := range []string{path, page} {
		if _, err := os.Stat(file); err != nil {
			fmt.Fprintf(stderr, "%s: no such file; name a folder of `make primitives` or of sidecar bench primitives --out\n",
				filepath.Join(args[0], filepath.Base(file)))
			return exitcode.Usage
		}
	}
	if problems := check.File("", path, filepath.Join(args[0], "primitives.json")); len(problems) > 0 {
		for _, problem := range problems {
			fmt.Fprintln(stderr, problem)
		}
		return exitcode.Usage
	}
	winners, err := primitives.Judge(path)
	if err == nil {
		table := primitives.Markdown(winners)
		if err = primitives.Append(page, table); err == nil {
			fmt.Fprint(stdout, table)
			return exitcode.Pass
		}
	}
	fmt.Fprintln(stderr, err)
	return exitcode.Setup
}
