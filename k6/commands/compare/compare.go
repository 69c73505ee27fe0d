// SPDX-License-Identifier: AGPL-3.0-only

// Package compare is `k6 x compare`: it tells whether B differs from A, and by how much.
package compare

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/profiles"
	"windtunnel/k6/internal/stream"
	"windtunnel/k6/internal/variables"
)

func init() {
	subcommand.RegisterExtension("compare", New)
}

// Options are the command's own arguments. Scenario may be several with commas. Dash is the number of
// paths before `--`, -1 without one. Dir is the current folder, Variable the value of WINDTUNNEL_ROOT.
type Options struct {
	Scenario, A, B string
	Protocol       string       // rows of the protocol matrix, in place of Scenario
	Build          builds.Asked // in place of A and B
	Runs, Minutes  string       // a number, or auto; a number, or "" for what fits the profile
	WorseBy        float64
	Secondary      string // on, off: whether secondary metrics are judged
	Judged         bool   // runs, WorseBy or Secondary are given
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
		Use:   "compare --scenario SYSTEM/NAME[,…] --a SIDE --b SIDE | --base … --head … | RUN|FILE... -- RUN|FILE...",
		Short: "Compare two systems, two builds or two sets of results, with confidence",
		Long: `Runs a scenario in turn on two sides, which of them first by lot. Each is a testbed, NAME or
NAME:VARIABLE=VALUE,…; the URL of a system that is up, with secrets of its own in NAME_A and
NAME_B; or env:NAME, an environment. Or the sides are a base and a head, two checkouts or two
revisions of a repository, that are built before (docs/how-to/compare-builds.md). With --protocol the
sides are two programs, which rows of the protocol matrix run in turn, judged as a candidate is
(docs/reference/protocols.md). Or it takes results
that there are, A's before -- and B's after it; one argument is a comparison's own folder. Tells the change of each metric with its confidence
interval and p-value, writes compare.json and compare.md, and ends with a verdict; docs/how-to/compare.md
says how. What was not measured in the same way is not compared. Of several scenarios, all run in
each turn; each has a folder of its own, and one page has the changes of all.

` + Help,
	}
	rootFlag := command.BenchFlags(gs, cmd, &b)
	flags := cmd.Flags()
	flags.StringVar(&o.Scenario, "scenario", "", "SYSTEM/NAME, several with commas")
	flags.StringVar(&o.Protocol, "protocol", "", "in place of --scenario and --testbed: rows of the protocol matrix, such as trojan,vless-reality, which two programs run: --binary of the builds, or --a and --b")
	flags.StringVar(&o.A, "a", "", "side A")
	flags.StringVar(&o.B, "b", "", "side B")
	flags.BoolVar(&b.Same, "same", false, "measure two sides that are the same bytes, too")
	var made madePaths
	buildFlags(flags, &o.Build, &made)
	flags.StringVar(&o.Runs, "runs", auto, "runs of each: a number, or auto: pairs until it knows; with fewer than 6 nothing is judged, with fewer than 10 two primary metrics never pass")
	flags.StringVar(&o.Minutes, "minutes", "", "with --runs auto, no pair is begun after so many (default "+profiles.MinutesText()+")")
	flags.Float64Var(&o.WorseBy, "worse-by", variables.DefaultNumber("WORSE_BY"), "percent by which a metric may be worse")
	flags.StringVar(&o.Secondary, "secondary", "on", "on, or off: only the primary metrics are judged, which takes fewer pairs")
	flags.StringVar(&o.Out, "out", "", "folder to write to (default one in results/)")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dash, o.Dir, o.Variable, o.Root = args, cmd.ArgsLenAtDash(), dir, gs.Env["WINDTUNNEL_ROOT"], *rootFlag
		o.Build.Made = made.byVariable()
		if !flags.Changed("a") && !flags.Changed("b") && !o.Build.Given() {
			return Existing(gs.Stdout, gs.Stderr, o)
		}
		o.Judged = flags.Changed("worse-by") || flags.Changed("runs") || flags.Changed("secondary")
		if line := o.wrongForRuns(); line != "" {
			fmt.Fprintln(gs.Stderr, line)
			return exitcode.Usage
		}
		stop, code := command.PrepareBench(gs, &b, *rootFlag, dir)
		if code != exitcode.Pass {
			return code
		}
		defer stop()
		if o.Build.Given() {
			return Built(o, b)
		}
		if o.Protocol != "" {
			return Rows(o, b, [2]string{o.A, o.B})
		}
		return Measured(o, b, [2]*builds.Build{})
	})
}

// Help documents the exit codes.
const Help = `Exit codes:
    0  each primary metric is within --worse-by, nothing is beyond it, and B fails no more than A
    2  bad usage, or runs that cannot be compared
    3  inconclusive: a primary metric is unclear, a metric was not measured in each run, the pairs are too few for
       a metric to have failed, too many runs cannot be used, or the machine changed; or both sides are the
       same, and nothing was measured
    4  set-up failed, or a build
   99  a metric is significantly worse, by more than --worse-by, or B fails more than A
  130  interrupted: what was measured is compared
Of several scenarios the worst counts: the first of 130, 4, 99, 3, 0.`

func (o Options) wrongForRuns() string {
	switch {
	case len(o.Paths) > 0:
		return fmt.Sprintf("unexpected argument %q beside --a and --b; see k6 x compare --help", o.Paths[0])
	case o.Build.Given() && o.A+o.B != "":
		return "give --a and --b, or --base and --head; see k6 x compare --help"
	case !o.Build.Given() && (o.A == "" || o.B == ""):
		return "give both --a and --b; see k6 x compare --help"
	case o.Protocol != "":
		return o.wrongForRows()
	case o.Scenario == "":
		return "give --scenario SYSTEM/NAME; see k6 x compare --help"
	}
	if _, line := o.length(""); line != "" {
		return line
	}
	return o.wrongBound()
}

// wrongForRows is what does not belong to rows of the protocol matrix.
func (o Options) wrongForRows() string {
	switch {
	case o.Scenario != "" || o.Build.Testbed != "":
		return "--protocol takes the place of --scenario and --testbed: leave them out"
	case o.Build.Given() && o.Build.Made["binary"] == "" || o.Build.Made["source"] != "" || o.Build.Made["wheel"] != "":
		return "--protocol takes --binary, and neither --source nor --wheel: rows run programs"
	case o.Judged:
		return "--runs, --worse-by and --secondary are not of --protocol: rows take turns until they know, by the bounds TARGET_… (docs/reference/protocols.md)"
	}
	_, line := o.length("")
	return line
}

// auto is the --runs that makes pairs until the comparison knows.
const auto = "auto"

// length is how many pairs to make, or what is wrong with what was given.
func (o Options) length(profile string) (l compare.Length, wrong string) {
	minutes := profiles.MostMinutes(profile)
	if o.Minutes != "" {
		if why := variables.Find("MINUTES").Wrong(o.Minutes); why != "" {
			return l, fmt.Sprintf("--minutes %s: %s", o.Minutes, why)
		}
		minutes = int(variables.Number("MINUTES", o.Minutes))
	}
	l.Most = time.Duration(minutes) * time.Minute
	if o.Runs == auto {
		return l, ""
	}
	n, err := strconv.Atoi(o.Runs)
	if err != nil || n < 1 || n > difference.MostPairs {
		return l, fmt.Sprintf("--runs %s: give auto, or 1 to %d", o.Runs, difference.MostPairs)
	}
	if o.Minutes != "" {
		return l, "--minutes is of --runs auto: leave one of them out"
	}
	l.Pairs = n
	return l, ""
}

func (o Options) wrongBound() string {
	if why := variables.Find("WORSE_BY").Wrong(strconv.FormatFloat(o.WorseBy, 'f', -1, 64)); why != "" {
		return fmt.Sprintf("--worse-by %g: %s", o.WorseBy, why)
	}
	if o.Secondary != "" {
		if why := variables.Find("SECONDARY").Wrong(o.Secondary); why != "" {
			return fmt.Sprintf("--secondary %s: %s", o.Secondary, why)
		}
	}
	return ""
}

func (o Options) secondaryOff() bool { return o.Secondary == compare.SecondaryOff }

// Measured runs the scenarios on both sides, compares and returns the exit code. Made are the sides' builds, nil where they
// were not built.
func Measured(o Options, b bench.Options, made [2]*builds.Build) int {
	common := compare.Request{SpecA: o.A, SpecB: o.B, BuildA: made[0], BuildB: made[1], WorseBy: o.WorseBy, SecondaryOff: o.secondaryOff(), Beds: check.Beds(b.Root)}
	length, _ := o.length(b.Profile)
	dir, all, code := compare.Measure(b, o.Scenario, length, common)
	if code != exitcode.Pass {
		return code
	}
	if o.Out != "" {
		dir = o.out("")
	}
	return finish(b.Stdout, b.Stderr, all, dir, o.Dir, func(made []compare.Comparison) { streamed(b, made) })
}

// streamed writes judgements to InfluxDB where the runs were streamed to.
func streamed(b bench.Options, made []compare.Comparison) {
	config, wanted, err := stream.Wanted(context.Background(), b.Getenv)
	if err != nil || !wanted {
		return // the runs have told it
	}
	if line := compare.Stream(config, made); line != "" {
		fmt.Fprintln(b.Stderr, line)
	}
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

// finish compares, writes and prints: the one comparison, or of several what they have in common. Tell gets what was made.
func finish(stdout, stderr io.Writer, all []compare.Request, dir, here string, tell func([]compare.Comparison)) int {
	refused := false
	for _, q := range all {
		if why := compare.Refusal(q.A, q.B, q.Beds); why != "" {
			if q.Folder != "" {
				why = q.Scenario + ": " + why
			}
			fmt.Fprintln(stderr, why)
			refused = true
		}
	}
	if refused {
		return exitcode.Usage
	}
	var made interface {
		Write(dir string) error
		ExitCode() int
	}
	var text string
	name := compare.FileName
	if len(all) == 1 && all[0].Folder == "" {
		c := compare.Make(all[0])
		tell([]compare.Comparison{c})
		made, text = c, c.Summary()
	} else {
		s := compare.MakeSet(all)
		tell(s.Comparisons())
		made, text, name = s, s.Summary(), compare.PageName
	}
	fmt.Fprint(stdout, "\n"+text)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = made.Write(dir)
	}
	if err != nil {
		fmt.Fprintf(stderr, "cannot write the comparison: %v\n", err)
		return exitcode.Setup
	}
	if relative, err := filepath.Rel(here, dir); err == nil {
		dir = relative
	}
	fmt.Fprintf(stdout, "\ncomparison: %s\n", filepath.Join(dir, name))
	return made.ExitCode()
}
