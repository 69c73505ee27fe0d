// SPDX-License-Identifier: AGPL-3.0-only

// Package needs is `k6 x needs`: it prints the make targets that a run needs.
package needs

import (
	"fmt"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
)

func New(gs *state.GlobalState) *cobra.Command {
	var o bench.Options
	var scenarios string
	var testbeds []string
	cmd := &cobra.Command{
		Use:   "needs",
		Short: "Print the make targets that a bench or a comparison needs",
		Long: `Prints the targets of make, one a line, that build and install what the testbeds of a bench
or a comparison start, as testbeds/*.toml name them. The flags are those of bench and
compare; --testbed can be given several times.`,
	}
	rootFlag := command.BenchFlags(gs, cmd, &o)
	flags := cmd.Flags()
	flags.StringVar(&o.Only, "only", gs.Env["ONLY"], "SYSTEM or SYSTEM/SCENARIO, comma-separated; all: every one (default all that the profile has)")
	flags.StringVar(&scenarios, "scenario", "", "SYSTEM/NAME, several with commas, in place of --only")
	flags.StringArrayVar(&testbeds, "testbed", given(gs.Env["TESTBED"]), "NAME or NAME:VARIABLE=VALUE,… in place of the environment's testbed for its system")
	return command.Alone(gs, cmd, "", func(dir string) int {
		return command.Prepared(gs, &o, *rootFlag, dir, func() int {
			targets, wrong := plan.Needs(o.Asked, compare.List(scenarios), testbeds)
			if wrong != nil {
				return wrong.Say(gs.Stderr)
			}
			for _, target := range targets {
				fmt.Fprintln(gs.Stdout, target)
			}
			return exit.Pass
		})
	})
}

// given returns a list of the one value, an empty list for "".
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}
