// SPDX-License-Identifier: AGPL-3.0-only

// Package compare is `k6 x compare`: it tells whether B differs from A, and by how much.
package compare

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/testbed"
)

func init() {
	subcommand.RegisterExtension("compare", New)
}

// Options are the command's own arguments. Dash is the number of paths before `--`, -1 without one.
// Dir is the current folder, Variable the value of WINDTUNNEL_ROOT.
type Options struct {
	Scenario, A, B string
	Runs           int
	WorseBy        float64
	Out            string
	Paths          []string
	Dash           int
	Dir, Variable  string
	Root           string // flag
}

// New returns the command.
func New(gs *state.GlobalState) *cobra.Command {
	var o Options
	var b bench.Options
	cmd := &cobra.Command{
		Use:   "compare --scenario SYSTEM/NAME --a TESTBED --b TESTBED | RUN|FILE... -- RUN|FILE...",
		Short: "Compare two testbeds or two sets of results, with confidence",
		Long: `Runs a scenario in turn on two testbeds (A B, B A, A B …), each given as NAME or
NAME:VARIABLE=VALUE,…; or takes results that there are, A's before -- and B's after it. One
argument is a comparison's own folder. Tells the change of each metric with its confidence
interval and p-value, writes compare.json and compare.md, and ends with a verdict; docs/compare.md
says how. What was not measured in the same way is not compared.

` + Help,
	}
	rootFlag := command.BenchFlags(gs, cmd, &b)
	flags := cmd.Flags()
	flags.StringVar(&o.Scenario, "scenario", "", "SYSTEM/NAME")
	flags.StringVar(&o.A, "a", "", "testbed A")
	flags.StringVar(&o.B, "b", "", "testbed B")
	flags.IntVar(&o.Runs, "runs", 10, "runs of each; with fewer than 6 nothing is judged")
	flags.Float64Var(&o.WorseBy, "worse-by", 10, "percent by which a metric may be worse")
	flags.StringVar(&o.Out, "out", "", "folder to write to (default one in results/)")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dash, o.Dir, o.Variable, o.Root = args, cmd.ArgsLenAtDash(), dir, gs.Env["WINDTUNNEL_ROOT"], *rootFlag
		if !flags.Changed("a") && !flags.Changed("b") {
			return Existing(gs.Stdout, gs.Stderr, o)
		}
		if line := o.wrongForRuns(); line != "" {
			fmt.Fprintln(gs.Stderr, line)
			return exitcode.Usage
		}
		stop, code := command.PrepareBench(gs, &b, *rootFlag, dir)
		if code != exitcode.Pass {
			return code
		}
		defer stop()
		return Measured(o, b)
	})
}

// Help documents the exit codes.
const Help = `Exit codes:
    0  nothing that is judged is worse by more than --worse-by
    2  bad usage, or runs that cannot be compared
    3  inconclusive: too few runs, too many that cannot be used, or the machine changed
    4  set-up failed
   99  a metric is significantly worse, by more than --worse-by
  130  interrupted: what was measured is compared`

func (o Options) wrongForRuns() string {
	switch {
	case len(o.Paths) > 0:
		return fmt.Sprintf("unexpected argument %q beside --a and --b; see k6 x compare --help", o.Paths[0])
	case o.A == "" || o.B == "":
		return "give both --a and --b; see k6 x compare --help"
	case o.Scenario == "":
		return "give --scenario SYSTEM/NAME; see k6 x compare --help"
	case o.Runs < 1 || o.Runs > 999:
		return fmt.Sprintf("--runs %d: give 1 to 999", o.Runs)
	}
	return o.wrongBound()
}

func (o Options) wrongBound() string {
	if o.WorseBy >= 0 {
		return ""
	}
	return fmt.Sprintf("--worse-by %g: give a percentage, 0 or more", o.WorseBy)
}

// Measured runs the scenario on both testbeds, compares and returns the exit code.
func Measured(o Options, b bench.Options) int {
	q := compare.Request{SpecA: o.A, SpecB: o.B, WorseBy: o.WorseBy, Beds: beds(b.Root)}
	dir, code := compare.Measure(b, o.Scenario, o.Runs, &q)
	if code != exitcode.Pass {
		return code
	}
	if o.Out != "" {
		dir = o.out("")
	}
	return finish(b.Stdout, b.Stderr, q, dir, o.Dir)
}

// Existing compares results that there are and returns the exit code.
func Existing(stdout, stderr io.Writer, o Options) int {
	fault := func(code int, format string, args ...any) int {
		fmt.Fprintf(stderr, format+"\n", args...)
		return code
	}
	if line := o.wrongBound(); line != "" {
		return fault(exitcode.Usage, "%s", line)
	}
	givenA, givenB, line := o.sides()
	if line != "" {
		return fault(exitcode.Usage, "%s; see k6 x compare --help", line)
	}
	q := compare.Request{WorseBy: o.WorseBy}
	base, _ := root.Find(o.Root, o.Variable, o.Dir)
	q.Beds = beds(base)
	var err error
	if q.A, err = compare.Load(givenA, o.Scenario); err != nil {
		return fault(exitcode.Usage, "A: %v", err)
	}
	if q.B, err = compare.Load(givenB, o.Scenario); err != nil {
		return fault(exitcode.Usage, "B: %v", err)
	}
	compare.Pair(q.A, q.B)
	for _, runs := range [][]compare.Measured{q.A, q.B} {
		for i := range runs {
			runs[i].File = o.display(runs[i].File)
		}
	}
	dir := o.out(base)
	q.ID = filepath.Base(dir)
	return finish(stdout, stderr, q, dir, o.Dir)
}

// sides splits the paths into those of A and of B.
func (o Options) sides() (a, b []string, line string) {
	paths := command.Locate(o.Paths, o.Dir, o.Variable)
	switch {
	case len(paths) == 1:
		if a, b = compare.OfComparison(paths[0]); len(a) == 0 || len(b) == 0 {
			return nil, nil, o.Paths[0] + " is no folder of a comparison: give the runs of A, then --, then the runs of B"
		}
		return a, b, ""
	case len(paths) == 2 && o.Dash < 0:
		return paths[:1], paths[1:], ""
	case o.Dash < 1 || o.Dash >= len(paths):
		return nil, nil, "give the runs of A, then --, then the runs of B; or --scenario, --a and --b"
	}
	return paths[:o.Dash], paths[o.Dash:], ""
}

// display is a path without what is this machine's alone.
func (o Options) display(path string) string {
	if relative, err := filepath.Rel(o.Dir, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return filepath.Base(path)
}

// out is the folder to write to: in the results of the checkout, or the current folder without one.
func (o Options) out(base string) string {
	switch {
	case filepath.IsAbs(o.Out):
		return o.Out
	case o.Out != "":
		return filepath.Join(o.Dir, o.Out)
	case base == "":
		return o.Dir
	}
	return filepath.Join(base, "results", time.Now().UTC().Format("20060102-150405.000")+"-compare")
}

// finish compares, writes and prints.
func finish(stdout, stderr io.Writer, q compare.Request, dir, here string) int {
	if why := compare.Refusal(q.A, q.B, q.Beds); why != "" {
		fmt.Fprintln(stderr, why)
		return exitcode.Usage
	}
	c := compare.Make(q)
	fmt.Fprint(stdout, "\n"+c.Markdown())
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = c.Write(dir)
	}
	if err != nil {
		fmt.Fprintf(stderr, "cannot write the comparison: %v\n", err)
		return exitcode.Setup
	}
	if relative, err := filepath.Rel(here, dir); err == nil {
		dir = relative
	}
	fmt.Fprintf(stdout, "\ncomparison: %s\n", filepath.Join(dir, compare.FileName))
	return c.ExitCode()
}

// beds tells what a testbed of the checkout declares.
func beds(base string) func(string) testbed.Testbed {
	return func(name string) testbed.Testbed {
		if base == "" {
			return testbed.Testbed{}
		}
		bed, err := check.Testbed(base, name)
		if err != nil {
			return testbed.Testbed{} // the names of its variables tell
		}
		return bed
	}
}
