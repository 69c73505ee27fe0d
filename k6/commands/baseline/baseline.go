// SPDX-License-Identifier: AGPL-3.0-only

// Package baseline is `k6 x baseline`: it judges a run by a kept baseline.
package baseline

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

func New(gs *state.GlobalState) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "baseline NAME RUN",
		Short: "Judge a run by runs that were kept",
		Long: `Holds each scenario of a run (a folder, or the name of a run in results/) against the baseline
NAME (made by the command keep, or a folder of kept runs). The baseline's figures are the run's bounds. Writes
compare.json, compare.md and compare.html into the folder baseline/ of the run. A run on another class of
machine is refused (docs/how-to/baselines.md).

` + Help,
	}
	given := command.OwnFlags(cmd)
	cmd.Flags().Lookup("worse-by").DefValue = fmt.Sprint(baseline.WorseBy)
	cmd.Flags().StringVar(&out, "out", "", "folder to write to (default baseline/ in the folder of the run)")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		if len(args) != 2 {
			return exit.Say(gs.Stderr, exit.Usage, "give the name of a baseline and a run, such as results/latest; %s", command.See("baseline"))
		}
		base, err := root.Find("", gs.Env["WINDTUNNEL_ROOT"], dir)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		kept, err := baseline.Find(base, args[0])
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		run := command.Locate(args[1:], dir, gs.Env["WINDTUNNEL_ROOT"])[0]
		out = root.Absolute(cmp.Or(out, filepath.Join(run, "baseline")), dir)
		return Judge(gs.Stdout, gs.Stderr, base, kept, run, out, compare.BoundsOf(given, baseline.WorseBy))
	})
}

// Help documents the exit codes.
const Help = `Exit codes:
    0  in each scenario the primary metrics are within --worse-by, and no metric is beyond it
    2  bad usage, or a run that cannot be judged by the baseline
    3  inconclusive: a primary metric is unclear, a metric was not measured, fewer than 4 runs were kept and
       --secondary is on, or a scenario has no kept run
    4  the judgement cannot be written
   99  a metric is significantly worse, by more than --worse-by
Of several scenarios the worst counts: the first of 4, 99, 3, 0.`

// Judge judges the run in a folder, writes and prints the judgement, and returns the exit code.
func Judge(stdout, stderr io.Writer, base string, kept baseline.Baseline, run, out string, bounds compare.Bounds) int {
	judgement, err := kept.Judge(run, bounds, check.Beds(base))
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	fmt.Fprintf(stdout, "\nbaseline %s, %s:\n%s", kept.Name, kept.Count(), judgement.Summary())
	if err := judgement.Write(out); err != nil {
		return exit.Say(stderr, exit.Setup, "cannot write the judgement: %v", err)
	}
	fmt.Fprintf(stdout, "judgement: %s\n", command.Display(filepath.Join(out, compare.HTMLName), base))
	return judgement.ExitCode()
}
