// SPDX-License-Identifier: AGPL-3.0-only

// Package coordinate is `k6 x coordinate`: it coordinates the runners of one run that another program starts.
package coordinate

import (
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/coordinator/alone"
	"windtunnel/k6/internal/exit"
)

const (
	defaultListen  = "127.0.0.1:7950"
	defaultWait    = 5 * time.Minute
	defaultSilence = 30 * time.Second
)

func New(gs *state.GlobalState) *cobra.Command {
	var o alone.Options
	cmd := &cobra.Command{
		Use:   "coordinate",
		Short: "Keep the runners of one run together, judge their records, and end with the verdict",
		Long: `Waits for the runners of one scenario. Another program starts them: k6 run, each with an execution segment, the
variables COORDINATOR_URL and COORDINATOR_TOKEN, and the same RUN_ID, ENV and PROFILE. One of them sets up for all, all begin at
one time, one of them cleans up; their records come here, and results/RUN/ has the result and the report. docs/how-to/runners.md tells
how it goes. COORDINATOR_TOKEN must be set here, too: 16 characters or more.

` + exit.Help,
	}
	rootFlag := command.BenchFlags(gs, cmd, &o.Options)
	flags := cmd.Flags()
	flags.StringVar(&o.Only, "only", gs.Env["ONLY"], "the scenario, SYSTEM/NAME")
	flags.IntVar(&o.Runners, "runners", 0, "how many runners there are")
	flags.StringVar(&o.Listen, "listen", defaultListen, "HOST:PORT; an address other than loopback admits other machines that have the token")
	flags.DurationVar(&o.Wait, "wait", defaultWait, "how long the runners may take to come")
	flags.DurationVar(&o.Silence, "silence", defaultSilence, "time without a message after which a runner counts as dead")
	flags.IntVar(&o.After, "after", alone.NoneBefore, "exit code of the run's earlier scenarios, if any: needed for streaming")
	flags.BoolVar(&o.More, "more", false, "scenarios of the same run come after this one")
	return command.Alone(gs, cmd, "", func(dir string) int {
		return command.Prepared(gs, &o.Options, *rootFlag, dir, func() int { return alone.Run(o) })
	})
}
