// SPDX-License-Identifier: AGPL-3.0-only

// Package keep is `k6 x keep`: it keeps runs as a baseline.
package keep

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

func New(gs *state.GlobalState) *cobra.Command {
	var k baseline.Keeping
	cmd := &cobra.Command{
		Use:   "keep --name NAME RUN...",
		Short: "Keep runs as a baseline",
		Long: `Copies the results and reports of runs (folders, or names of runs in results/) into
results/baselines/NAME/, or NAME in another folder (--to); runs are added to an existing baseline.
Logs are left out, and the records of all samples unless --records is given. All runs of a
baseline are of one profile, parameters, testbed and versions, on one class of machine
(docs/how-to/baselines.md).

Exit codes:
    0  kept
    2  bad usage, or runs that cannot be kept together
    4  it cannot be written`,
	}
	cmd.Flags().StringVar(&k.Name, "name", "", "what the baseline is called")
	cmd.Flags().StringVar(&k.To, "to", "", "the folder of baselines (default results/baselines of the checkout)")
	cmd.Flags().BoolVar(&k.Records, "records", false, "also keep the records of all samples, which are large")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		if k.Name == "" || len(args) == 0 {
			return exit.Say(gs.Stderr, exit.Usage, "give --name NAME and a run, such as results/latest; %s", command.See("keep"))
		}
		base, err := root.Find("", gs.Env["WINDTUNNEL_ROOT"], dir)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		k.To = root.Absolute(cmp.Or(k.To, baseline.Folder(base)), dir)
		k.Runs, k.Beds = command.Locate(args, dir, gs.Env["WINDTUNNEL_ROOT"]), check.Beds(base)
		folder, left, err := baseline.Keep(k)
		if refused := (baseline.Refused{}); errors.As(err, &refused) {
			return exit.Say(gs.Stderr, exit.Usage, "%v", refused)
		}
		if err != nil {
			return exit.Say(gs.Stderr, exit.Setup, "cannot keep %s: %v", k.Name, err)
		}
		for _, line := range left {
			fmt.Fprintln(gs.Stderr, line)
		}
		kept, err := baseline.Find(base, folder)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Setup, "%v", err)
		}
		fmt.Fprintf(gs.Stdout, "kept: %s, %s\n", command.Display(folder, dir), kept.Count())
		return exit.Pass
	})
}
