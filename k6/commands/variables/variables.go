// SPDX-License-Identifier: AGPL-3.0-only

// Package variables is `k6 x variables`: it lists the variables that a user may set, and writes the files generated from
// the list.
package variables

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/variables"
)

func New(gs *state.GlobalState) *cobra.Command {
	var rootFlag string
	var write, check bool
	cmd := &cobra.Command{
		Use:   "variables",
		Short: "List the variables that a user may set",
		Long: `Lists the variables that a user may set: of every scenario, of each system and of make, with
their defaults. k6/lists/variables.json is the registry of them. With --write, what make help
shows and the tables of docs/reference/variables.md are generated from it; --check verifies them.`,
	}
	cmd.Flags().StringVar(&rootFlag, "root", "", "the checkout (default: upward from here)")
	cmd.Flags().BoolVar(&write, "write", false, "write the files that are made of the registry")
	cmd.Flags().BoolVar(&check, "check", false, "end with 2 if one of these files is out of date")
	return command.Alone(gs, cmd, "", func(dir string) int {
		if !write && !check {
			fmt.Fprint(gs.Stdout, variables.Help())
			return exit.Pass
		}
		base, err := root.Find(rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		return Keep(gs.Stderr, base, write)
	})
}

// Keep writes the files generated from the registry; without write, it reports which files are out of date.
func Keep(stderr io.Writer, base string, write bool) int {
	made, err := variables.Made(base)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	code := exit.Pass
	for _, name := range slices.Sorted(maps.Keys(made)) {
		path := filepath.Join(base, name)
		there, _ := os.ReadFile(path) // a missing file counts as out of date
		switch {
		case string(there) == made[name]:
		case !write:
			fmt.Fprintf(stderr, "%s is not what k6/lists/variables.json makes it: run `make variables`\n", name)
			code = exit.Usage
		default:
			if err := os.WriteFile(path, []byte(made[name]), 0o644); err != nil {
				return exit.Say(stderr, exit.Setup, "%v", err)
			}
		}
	}
	return code
}
