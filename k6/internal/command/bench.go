// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"cmp"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"golang.org/x/term"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/variables"
)

// BenchFlags declares the flags of a command that runs scenarios. Each flag also has an environment variable. It returns
// the pointer to the value of --root.
func BenchFlags(gs *state.GlobalState, cmd *cobra.Command, o *bench.Options) *string {
	flags := cmd.Flags()
	flags.StringVar(&o.Profile, "profile", cmp.Or(gs.Env["PROFILE"], variables.Default("PROFILE")), variables.Explain("PROFILE"))
	flags.StringVar(&o.Env, "env", cmp.Or(gs.Env["ENV"], variables.Default("ENV")), variables.Explain("ENV"))
	flags.StringVar(&o.RunID, "run-id", gs.Env["RUN_ID"], variables.Explain("RUN_ID"))
	flags.StringVar(&o.Sidecar, "sidecar", "", "the sidecar's binary (default bin/sidecar of the checkout)")
	return flags.String("root", "", "the checkout (default: upward from here)")
}

// Prepared completes the options with the checkout, the programs, the terminal, the environment and the signals of
// this process, and runs what needs them. If that fails, it prints the reason and returns another code than exit.Pass.
func Prepared(gs *state.GlobalState, o *bench.Options, rootFlag, dir string, run func() int) int {
	var err error
	if o.Root, err = root.Find(rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir); err != nil {
		return exit.Say(gs.Stderr, exit.Usage, "%v", err)
	}
	if o.K6, err = os.Executable(); err != nil {
		return exit.Say(gs.Stderr, exit.Setup, "%v", err)
	}
	o.Sidecar = root.Absolute(cmp.Or(o.Sidecar, filepath.Join(o.Root, "bin", "sidecar")), dir)
	o.Environ = Environ(gs.Env)
	o.Stdout, o.Stderr = gs.Stdout, gs.Stderr
	o.TTY, o.Color = gs.Stdout.IsTTY, gs.Stdout.IsTTY && !gs.Flags.NoColor
	if o.TTY {
		o.Width, _, _ = term.GetSize(gs.Stdout.RawOutFd)
	}
	signals := make(chan os.Signal, 4)
	gs.SignalNotify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	o.Signals = signals
	defer gs.SignalStop(signals)
	return run()
}
