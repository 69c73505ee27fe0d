// SPDX-License-Identifier: AGPL-3.0-only

// Package compare is `k6 x compare`: it says whether B differs from A, and by how much.
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

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/profiles"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/stream"
	"windtunnel/k6/internal/target"
	"windtunnel/k6/internal/variables"
)

// Options are the command's own arguments. Scenario may be several scenarios, with commas. Dash is the number of paths
// before `--`, -1 without `--`. Dir is the current folder, Variable the value of WINDTUNNEL_ROOT.
type Options struct {
	Scenario, A, B string
	Protocol       string       // rows of the protocol matrix, instead of Scenario
	Build          builds.Asked // instead of A and B
	Runs, Minutes  string       // Runs: a number or auto; Minutes: a number, or "" for the profile's
	compare.Bounds
	Judged        string // a flag that is given, and that rows do not take
	Out           string
	Paths         []string
	Dash          int
	Dir, Variable string
	Root          string // value of --root
}

func New(gs *state.GlobalState) *cobra.Command {
	var o Options
	var b bench.Options
	cmd := &cobra.Command{
		Use:   "compare --scenario SYSTEM/NAME[,…] --a SIDE --b SIDE | --base … --head … | RUN|FILE... -- RUN|FILE...",
		Short: "Compare two systems, two builds or two sets of results, with confidence",
		Long: `Runs a scenario on two sides in turn, in random order. Each side is a testbed, NAME or
NAME:VARIABLE=VALUE,…; the URL of a system that is up, with secrets of its own in NAME_A and
NAME_B; or env:NAME, an environment. Or the sides are a base and a head, two checkouts or two
revisions of a repository, that are built before (docs/how-to/compare-builds.md). With --protocol the
sides are two programs, which rows of the protocol matrix run in turn, judged as a candidate is
(docs/reference/protocols.md). Or it takes results
that exist: A's before --, B's after it; a single argument is the folder of a comparison. Prints each metric's change with its confidence
interval and p-value, writes compare.json, compare.md and compare.html, and ends with a verdict; docs/how-to/compare.md
says how. Figures measured in different ways are not compared. Several scenarios all run in
each turn; each has a folder of its own, and one page has the changes of all.

` + Help,
		Example: `
--scenario dataplane/socks-tcp --a sing-box-pair --b xray-pair
--scenario pulsar/ingest --a pulsar-relay --b pulsar-relay:version=0.2.0 --profile quick
--protocol trojan,vless-reality --a /path/to/before --b /path/to/after --minutes 20
--scenario dataplane/socks-tcp --testbed own-proxy --repository . --base main --head HEAD --build 'make proxy' --binary out/proxy
results/before -- results/after`,
	}
	rootFlag := command.BenchFlags(gs, cmd, &b)
	flags := cmd.Flags()
	flags.StringVar(&o.Protocol, "protocol", "", "instead of --scenario and --testbed: rows of the protocol matrix, such as trojan,vless-reality. Two programs run them: --binary of the builds, or --a and --b")
	flags.BoolVar(&b.Same, "same", false, "measure even if both sides are the same bytes")
	flags.StringVar(&o.Build.Testbed, "testbed", "", "what starts the builds, NAME or NAME:VARIABLE=VALUE,…")
	flags.StringVar(&o.Runs, "runs", auto, "runs of each side: a number, or auto (pairs until the result is clear). Fewer than 6 judge nothing; with fewer than 10, two primary metrics never pass")
	flags.StringVar(&o.Out, "out", "", "folder to write to (default one in results/)")
	given := command.OwnFlags(cmd)
	flags.Lookup("minutes").Usage = "with --runs auto, minutes after which no pair begins (default " + profiles.MinutesText() + ")"
	command.Group(flags, "What is compared", "protocol")
	command.Group(flags, "How it runs", "profile", "env", "run-id", "out")
	command.Group(flags, "Programs and places", "sidecar", "root")
	command.VariableFlags(cmd, gs.Env)
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dash, o.Dir, o.Variable, o.Root = args, cmd.ArgsLenAtDash(), dir, gs.Env["WINDTUNNEL_ROOT"], *rootFlag
		o.Scenario, o.A, o.B, o.Minutes = given["SCENARIO"], given["A"], given["B"], given["MINUTES"]
		o.Build.Base, o.Build.Head, o.Build.Repository, o.Build.Command = given["BASE"], given["HEAD"], given["REPOSITORY"], given["BUILD"]
		o.Build.Made = map[string]string{"binary": given["BINARY"], "source": given["SOURCE"], "wheel": given["WHEEL"]}
		b.InTurn = given["AT_ONCE"] == "off"
		o.Bounds = compare.BoundsOf(given, variables.DefaultNumber("WORSE_BY"))
		if !flags.Changed("a") && !flags.Changed("b") && !o.Build.Given() {
			return Existing(gs.Stdout, gs.Stderr, o)
		}
		for _, v := range variables.OfCommand("compare") {
			if name := variables.FlagName(v.Name); v.Flags["compare"] == variables.OfJudging && flags.Changed(name) && !variables.ReadBy(v.Name, matrix) {
				o.Judged = name
			}
		}
		if line := o.wrongForRuns(); line != "" {
			return exit.Say(gs.Stderr, exit.Usage, "%v", line)
		}
		return command.Prepared(gs, &b, *rootFlag, dir, func() int {
			if o.Build.Given() {
				return Built(o, b)
			}
			if o.Protocol != "" {
				return Rows(o, b, [2]string{o.A, o.B})
			}
			return Measured(o, b, [2]*builds.Build{})
		})
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
		return fmt.Sprintf("unexpected argument %q beside --a and --b; %s", o.Paths[0], command.See("compare"))
	case o.Build.Given() && o.A+o.B != "":
		return "give --a and --b, or --base and --head; " + command.See("compare")
	case !o.Build.Given() && (o.A == "" || o.B == ""):
		return "give both --a and --b; " + command.See("compare")
	case o.Protocol != "":
		return o.wrongForRows()
	case o.Scenario == "":
		return "give --scenario SYSTEM/NAME; " + command.See("compare")
	}
	_, line := o.length("")
	return line
}

// wrongForRows says which options cannot be combined with rows of the protocol matrix.
func (o Options) wrongForRows() string {
	switch {
	case o.Scenario != "" || o.Build.Testbed != "":
		return "--protocol takes the place of --scenario and --testbed: leave them out"
	case o.Build.Given() && o.Build.Made["binary"] == "" || o.Build.Made["source"] != "" || o.Build.Made["wheel"] != "":
		return "--protocol takes --binary, and neither --source nor --wheel: rows run programs"
	case o.Judged != "":
		return "--" + o.Judged + " is not of --protocol: rows take turns until they know, by the bounds TARGET_… (docs/reference/protocols.md)"
	}
	_, line := o.length("")
	return line
}

// auto is the value of --runs that adds pairs until the comparison knows.
const auto = "auto"

// length returns the number of pairs to make; wrong says what is wrong with the options.
func (o Options) length(profile string) (l compare.Length, wrong string) {
	minutes := profiles.MostMinutes(profile)
	if o.Minutes != "" {
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

// Measured runs the scenarios on both sides, compares and returns the exit code. made has the sides' builds, nil for a
// side that was not built.
func Measured(o Options, b bench.Options, made [2]*builds.Build) int {
	common := compare.Request{SpecA: o.A, SpecB: o.B, BuildA: made[0], BuildB: made[1], Bounds: o.Bounds, Beds: check.Beds(b.Root)}
	length, _ := o.length(b.Profile)
	length.Spare = int(variables.Number("AGAIN", b.Getenv("AGAIN")))
	dir, all, code := compare.Measure(b, o.Scenario, length, common)
	if code != exit.Pass {
		return code
	}
	if o.Out != "" {
		dir = o.out("")
	}
	return finish(b.Stdout, b.Stderr, all, dir, o.Dir, func(made []compare.Comparison) { streamed(b, made) })
}

// streamed writes judgements to InfluxDB if the runs were streamed there.
func streamed(b bench.Options, made []compare.Comparison) {
	config, wanted, err := stream.Wanted(context.Background(), b.Getenv)
	if err != nil || !wanted {
		return // the runs have reported the error already
	}
	if line := compare.Stream(config, made); line != "" {
		fmt.Fprintln(b.Stderr, line)
	}
}

// out returns the folder to write to: in the results of the checkout, or the current folder without a checkout.
func (o Options) out(base string) string {
	switch {
	case o.Out != "":
		return root.Absolute(o.Out, o.Dir)
	case base == "":
		return o.Dir
	}
	return filepath.Join(base, "results", time.Now().UTC().Format("20060102-150405.000")+"-compare")
}

// finish compares, writes and prints. Several comparisons are also summarized as a set. tell receives the comparisons.
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
		return exit.Usage
	}
	var made interface {
		Write(dir string) error
		ExitCode() int
	}
	var text string
	if len(all) == 1 && all[0].Folder == "" {
		c := compare.Make(all[0])
		tell([]compare.Comparison{c})
		made, text = c, c.Summary()
	} else {
		s := compare.MakeSet(all)
		tell(s.Comparisons())
		made, text = s, s.Summary()
	}
	fmt.Fprint(stdout, "\n"+text)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = made.Write(dir)
	}
	if err != nil {
		return exit.Say(stderr, exit.Setup, "cannot write the comparison: %v", err)
	}
	if relative, err := filepath.Rel(here, dir); err == nil {
		dir = relative
	}
	fmt.Fprintf(stdout, "\ncomparison: %s\n", filepath.Join(dir, compare.HTMLName))
	return made.ExitCode()
}

// NewPanel returns the command `panel-compare`: a comparison of two database drivers of the panel.
func NewPanel(gs *state.GlobalState) *cobra.Command {
	cmd := New(gs)
	cmd.Use = "panel-compare --a DRIVER --b DRIVER"
	cmd.Short = "Compare two database drivers of the panel"
	cmd.Long = `Compares two database drivers of the panel, such as pymysql and asyncmy, or a driver with a version, or with a colon
whole testbeds: users are created, disabled and enabled. It is compare with other defaults.

` + Help
	cmd.Example = "--a pymysql --b asyncmy\n--a sqlite --b asyncmy --runs 12"
	flags := cmd.Flags()
	byDefault := map[string]string{"scenario": target.PanelScenarios}
	if gs.Env["PROFILE"] == "" {
		byDefault["profile"] = target.ComparisonProfile
	}
	for name, value := range byDefault {
		flags.Lookup(name).DefValue = value
	}
	compare := cmd.Run
	cmd.Run = func(cmd *cobra.Command, args []string) {
		for name, value := range byDefault {
			if !flags.Changed(name) {
				_ = flags.Set(name, value) // these flags take any text
			}
		}
		for _, side := range []string{"a", "b"} {
			if given := flags.Lookup(side).Value.String(); given != "" {
				_ = flags.Set(side, target.PanelSide(given))
			}
		}
		compare(cmd, args)
	}
	return cmd
}
