// SPDX-License-Identifier: AGPL-3.0-only

// Package bundle is `k6 x bundle`: it prints a script as a bench runs it.
package bundle

import (
	"path/filepath"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/bundle"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
)

// New makes the command.
func New(gs *state.GlobalState) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle SCRIPT",
		Short: "Print a script and the modules that it imports as one module",
		Long: `A bench runs each script as one module. Virtual users then start with about half of
the CPU time and of the memory. For k6 without a bench:

    k6 x bundle scripts/pulsar/ingest.js | k6 run -

The paths of its files are those of this checkout.

` + exit.Help,
	}
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		if len(args) != 1 {
			return exit.Say(gs.Stderr, exit.Usage, "give one script; %s", command.See(cmd.Name()))
		}
		script := args[0]
		if !filepath.IsAbs(script) {
			script = filepath.Join(dir, script)
		}
		made, err := bundle.Join(script)
		if err == nil {
			_, err = gs.Stdout.Write(made)
		}
		if err != nil {
			return exit.Say(gs.Stderr, exit.Setup, "%s: %v", args[0], err)
		}
		return exit.Pass
	})
}
