// SPDX-License-Identifier: AGPL-3.0-only

// Package coordinate is `k6 x coordinate`: it brings the runners of one scenario together, wherever they run, and judges them.
package coordinate

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exitcode"
)

func init() {
	subcommand.RegisterExtension("coordinate", New)
}

// New returns the command.
func New(gs *state.GlobalState) *cobra.Command {
	o := options{token: gs.Env["COORDINATOR_TOKEN"], stdout: gs.Stdout, stderr: gs.Stderr}
	cmd := &cobra.Command{
		Use:   "coordinate",
		Short: "Bring the runners of one scenario together, and judge them as one run",
		Long: `Waits for k6 processes that have COORDINATOR_URL and COORDINATOR_TOKEN set and run the same script by
execution segments: one of them sets up for all, all begin at one time, one cleans up, and their records
come here. It starts no runners: k6-operator does (docs/kubernetes.md), or you do. It writes
SYSTEM-NAME.json and the records into the folder of the results.

COORDINATOR_TOKEN is the secret that runners must know.

` + exitcode.Help,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7000", "address to listen at; there is no encryption: only where nobody listens in")
	flags.IntVar(&o.runners, "runners", 0, "how many runners there are")
	flags.StringVar(&o.scenario, "scenario", "", "SYSTEM/NAME")
	flags.StringVar(&o.results, "results", "results", "the folder that takes the result and the records")
	flags.DurationVar(&o.patience, "patience", 10*time.Minute, "how long to wait until all runners are there")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		if len(args) > 0 {
			fmt.Fprintf(gs.Stderr, "unexpected argument %q; see k6 x coordinate --help\n", args[0])
			return exitcode.Usage
		}
		o.dir = dir
		return o.run(gs)
	})
}
