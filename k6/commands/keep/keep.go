// SPDX-License-Identifier: AGPL-3.0-only

// Package keep is `k6 x keep`: it keeps runs as a baseline.
package keep

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

// Options are the command's arguments. The field To is the folder of baselines, "" for results/baselines. Dir is
// the current folder, Variable the value of WINDTUNNEL_ROOT.
type Options struct {
	Name, To string
	Records  bool
	Paths    []string
	Dir      string
	Variable string
}

// New returns the command.
func New(gs *state.GlobalState) *cobra.Command {
	var o Options
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
	cmd.Flags().StringVar(&o.Name, "name", "", "what the baseline is called")
	cmd.Flags().StringVar(&o.To, "to", "", "the folder of baselines (default results/baselines of the checkout)")
	cmd.Flags().BoolVar(&o.Records, "records", false, "also keep the records of all samples, which are large")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dir, o.Variable = args, dir, gs.Env["WINDTUNNEL_ROOT"]
		return Run(gs.Stdout, gs.Stderr, o)
	})
}

// Run keeps the runs and returns the exit code.
func Run(stdout, stderr io.Writer, o Options) int {
	if o.Name == "" || len(o.Paths) == 0 {
		return exit.Say(stderr, exit.Usage, "give --name NAME and a run, such as results/latest; %s", command.See("keep"))
	}
	base, err := root.Find("", o.Variable, o.Dir)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	to := baseline.Folder(base)
	switch {
	case filepath.IsAbs(o.To):
		to = o.To
	case o.To != "":
		to = filepath.Join(o.Dir, o.To)
	}
	folder, left, err := baseline.Keep(baseline.Keeping{Name: o.Name, Runs: command.Locate(o.Paths, o.Dir, o.Variable), To: to, Records: o.Records,
		Beds: check.Beds(base)})
	if refused := (baseline.Refused{}); errors.As(err, &refused) {
		return exit.Say(stderr, exit.Usage, "%v", refused)
	}
	if err != nil {
		return exit.Say(stderr, exit.Setup, "cannot keep %s: %v", o.Name, err)
	}
	for _, line := range left {
		fmt.Fprintln(stderr, line)
	}
	kept, err := baseline.Find(base, folder)
	if err != nil {
		return exit.Say(stderr, exit.Setup, "%v", err)
	}
	display := folder
	if relative, err := filepath.Rel(o.Dir, folder); err == nil && filepath.IsLocal(relative) {
		display = relative
	}
	fmt.Fprintf(stdout, "kept: %s, %s\n", display, kept.Count())
	return exit.Pass
}
