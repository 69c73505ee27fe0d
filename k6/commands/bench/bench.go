// SPDX-License-Identifier: AGPL-3.0-only

// Package bench is `k6 x bench`: it runs scenarios and ends with a verdict.
package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"
	"golang.org/x/term"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/root"
)

func init() {
	subcommand.RegisterExtension("bench", New)
}

// New returns the command.
func New(gs *state.GlobalState) *cobra.Command {
	var o bench.Options
	var rootFlag string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Start testbeds, run scenarios, report, and end with a verdict",
		Long: `Runs the scenarios scripts/SYSTEM/NAME.js of the checkout against an environment: starts
a fresh testbed for each where the environment has one, runs k6, writes results/RUN/ with
the report, and ends with a summary. Everything that it starts ends with it.

Each flag can be given as an environment variable too: PROFILE, ENV, ONLY, DASHBOARD,
RUN_ID, WINDTUNNEL_ROOT. CONFIRM_REMOTE=HOST allows load on a host that is not loopback.
Within a system, the file scripts/SYSTEM/ORDER lists scenarios in their order, one a line.

` + exitcode.Help,
		Run: func(_ *cobra.Command, args []string) {
			if code := execute(gs, o, rootFlag, args); code != exitcode.Pass {
				gs.OSExit(code)
			}
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Profile, "profile", variable(gs, "PROFILE", "smoke"), "how hard and how long")
	flags.StringVar(&o.Env, "env", variable(gs, "ENV", "local"), "environments/NAME.json, or the absolute path of such a file")
	flags.StringVar(&o.Only, "only", gs.Env["ONLY"], "SYSTEM or SYSTEM/SCENARIO, comma-separated (default all)")
	flags.StringVar(&o.RunID, "run-id", gs.Env["RUN_ID"], "name of the run's folder (default from time and profile)")
	flags.BoolVar(&o.Dashboard, "dashboard", truth(gs.Env["DASHBOARD"]), "serve k6's web dashboard while scenarios run")
	flags.StringVar(&rootFlag, "root", "", "the checkout (default: upward from here)")
	flags.StringVar(&o.Sidecar, "sidecar", "", "the sidecar's binary (default bin/sidecar of the checkout)")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		fmt.Fprintf(gs.Stderr, "%v; see k6 x bench --help\n", err)
		gs.OSExit(exitcode.Usage)
		return err
	})
	return cmd
}

func execute(gs *state.GlobalState, o bench.Options, rootFlag string, args []string) int {
	if len(args) > 0 {
		fmt.Fprintf(gs.Stderr, "unexpected argument %q; to choose scenarios give --only; see k6 x bench --help\n", args[0])
		return exitcode.Usage
	}
	dir, err := gs.Getwd()
	if err != nil {
		fmt.Fprintln(gs.Stderr, err)
		return exitcode.Setup
	}
	if o.Root, err = root.Find(rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir); err != nil {
		fmt.Fprintln(gs.Stderr, err)
		return exitcode.Usage
	}
	if o.K6, err = os.Executable(); err != nil {
		fmt.Fprintln(gs.Stderr, err)
		return exitcode.Setup
	}
	switch {
	case o.Sidecar == "":
		o.Sidecar = filepath.Join(o.Root, "bin", "sidecar")
	case !filepath.IsAbs(o.Sidecar):
		o.Sidecar = filepath.Join(dir, o.Sidecar)
	}
	for name, value := range gs.Env {
		o.Environ = append(o.Environ, name+"="+value)
	}
	slices.Sort(o.Environ)
	o.Stdout, o.Stderr = gs.Stdout, gs.Stderr
	o.TTY, o.Color = gs.Stdout.IsTTY, gs.Stdout.IsTTY && !gs.Flags.NoColor
	if o.TTY {
		o.Width, _, _ = term.GetSize(gs.Stdout.RawOutFd)
	}
	signals := make(chan os.Signal, 4)
	gs.SignalNotify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer gs.SignalStop(signals)
	o.Signals = signals
	return bench.Run(o)
}

func variable(gs *state.GlobalState, name, otherwise string) string {
	if v := gs.Env[name]; v != "" {
		return v
	}
	return otherwise
}

// truth reads a switch such as DASHBOARD=1.
func truth(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, value)
}
