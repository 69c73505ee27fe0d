// SPDX-License-Identifier: AGPL-3.0-only

// Package bench is `k6 x bench`: it runs scenarios and ends with a verdict.
package bench

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	judging "windtunnel/k6/commands/baseline"
	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/sides"
	"windtunnel/k6/internal/variables"
)

func New(gs *state.GlobalState) *cobra.Command {
	var o bench.Options
	var runners, name string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Start testbeds, run scenarios, report, and end with a verdict",
		Long: `Runs the scenarios scripts/SYSTEM/NAME.js of the checkout against an environment: starts
a fresh testbed for each where the environment has one, runs k6, writes results/RUN/ with
the report, and ends with a summary. Everything that it starts ends with it.

Each flag also has an environment variable: RUN_ID for --run-id. If both are given, the flag counts.
Passwords and tokens are given only as variables. --confirm-remote HOST,… allows load on hosts that are not
loopback, and a database there. --placement shared|split|free says on which CPUs probes and
data planes run. --influx URL, with INFLUX_PASSWORD or INFLUX_TOKEN, streams the run to an
InfluxDB (docs/reference/streaming.md).
Within a system, scripts/SYSTEM/system.toml lists scenarios in their order.

` + exit.Help,
		Example: `
--only pulsar/ingest
--only pulsar,panel --profile quick --env local
--only dataplane/socks-tcp --testbed xray-pair --rate 500
--only panel/users-create --baseline before-the-change`,
	}
	rootFlag := command.BenchFlags(gs, cmd, &o)
	cmd.Flags().StringVar(&o.Only, "only", gs.Env["ONLY"], "SYSTEM or SYSTEM/SCENARIO, with commas between; all: every one (default all that the profile has)")
	cmd.Flags().StringVar(&o.Testbed, "testbed", gs.Env["TESTBED"], variables.Explain("TESTBED"))
	cmd.Flags().BoolVar(&o.Dashboard, "dashboard", truth(gs.Env["DASHBOARD"]), "serve k6's web dashboard while a scenario runs")
	cmd.Flags().BoolVar(&o.MayLeaveOut, "may-leave-out", truth(gs.Env["MAY_LEAVE_OUT"]), "end with 0, not 4, if this machine or user can run none of the scenarios")
	cmd.Flags().StringVar(&runners, "runners", gs.Env["RUNNERS"], "k6 processes that make the load together, of the relay and the panel (docs/how-to/runners.md; default 1)")
	cmd.Flags().StringVar(&name, "baseline", gs.Env[sides.Baseline], "also judge the run by a kept baseline: its name, or the absolute path of its folder; WORSE_BY is the bound")
	command.Group(cmd.Flags(), "What runs", "only", "profile", "env", "testbed", "runners", "may-leave-out")
	command.Group(cmd.Flags(), "Results and verdict", "run-id", "baseline", "dashboard")
	command.Group(cmd.Flags(), "Programs and places", "sidecar", "root")
	command.VariableFlags(cmd, gs.Env)
	return command.Alone(gs, cmd, "to choose scenarios give --only; ", func(dir string) int {
		if wrong := variables.Find("RUNNERS").Wrong(runners); runners != "" && wrong != "" {
			return exit.Say(gs.Stderr, exit.Usage, "--runners %s: %s", runners, wrong)
		}
		o.Runners = int(variables.Number("RUNNERS", runners))
		return command.Prepared(gs, &o, *rootFlag, dir, func() int {
			if sides.IsKept(o.Root, name) {
				return againstBaseline(gs.Stdout, gs.Stderr, o, name)
			}
			if name != "" {
				o.Environ = append(variables.Without(o.Environ, sides.Baseline), sides.Baseline+"="+name)
			}
			return bench.Run(o)
		})
	})
}

// truth reads a switch such as DASHBOARD=1.
func truth(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, value)
}

// againstBaseline runs the bench and also judges its run by a baseline. It reports invalid input before anything starts.
func againstBaseline(stdout, stderr io.Writer, o bench.Options, name string) int {
	kept, err := baseline.Find(o.Root, name)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v%s", err, sides.Hint(o.Root, name))
	}
	if why := kept.Excluded(machine.Here()); why != "" {
		return exit.Say(stderr, exit.Usage, "%v", why)
	}
	given, line := variables.GivenTo("baseline", o.Environ)
	if line != "" {
		return exit.Say(stderr, exit.Usage, "%v", line)
	}
	if sides.IsKept(o.Root, o.Getenv(sides.Baseline)) { // a script would read the variable as a program
		o.Environ = variables.Without(o.Environ, sides.Baseline)
	}
	id, f := run.ID(o.RunID, o.Profile, time.Now())
	if f != nil {
		return f.Say(stderr)
	}
	o.RunID = id
	folder := filepath.Join(o.Root, "results", o.RunID)
	_, there := os.Stat(folder)
	code := bench.Run(o)
	if _, err := run.Read(folder); err != nil || there == nil || code == exit.Interrupted {
		return code
	}
	judged := judging.Judge(stdout, stderr, o.Root, kept, folder, filepath.Join(folder, "baseline"), compare.BoundsOf(given, baseline.WorseBy))
	if judged == exit.Usage {
		return judged
	}
	return exit.Worst(code, judged)
}
