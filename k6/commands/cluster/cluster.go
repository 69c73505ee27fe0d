// SPDX-License-Identifier: AGPL-3.0-only

// Package cluster is `k6 x cluster`: it runs scenarios on Kubernetes and ends with a verdict.
package cluster

import (
	"cmp"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/cluster"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/variables"
)

func New(gs *state.GlobalState) *cobra.Command {
	var o bench.Options
	var where cluster.Where
	var runners string
	var print bool
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Run scenarios on Kubernetes by k6-operator, and end with one verdict",
		Long: `Runs scenarios in the cluster of kubectl's context: k6-operator starts the runners, a coordinator
starts them together and judges. Results are copied to results/RUN/. All objects created in the
cluster are removed. docs/how-to/kubernetes.md says what the cluster needs.

Each flag can be given as an environment variable too: PROFILE, ENV, ONLY, RUN_ID, RUNNERS, IMAGE,
PULL_SECRET, NAMESPACE, RUNNER_CPU, RUNNER_MEMORY, WINDTUNNEL_ROOT. CONFIRM_REMOTE=HOST,… allows load on
the hosts that the environment names.

` + exit.Help,
	}
	rootFlag := command.BenchFlags(gs, cmd, &o)
	flags := cmd.Flags()
	flags.StringVar(&o.Only, "only", gs.Env["ONLY"], "SYSTEM or SYSTEM/SCENARIO, comma-separated; all: every one (default all that the profile has)")
	flags.StringVar(&runners, "runners", cmp.Or(gs.Env["RUNNERS"], variables.Default("RUNNERS")), "how many pods make the load")
	flags.StringVar(&where.Image, "image", gs.Env["IMAGE"], "the image of the runner pods")
	flags.StringVar(&where.PullSecret, "pull-secret", gs.Env["PULL_SECRET"], "the Secret to pull it with")
	flags.StringVar(&where.Namespace, "namespace", gs.Env["NAMESPACE"], "where they run (default the context's)")
	flags.StringVar(&where.CPU, "runner-cpu", cmp.Or(gs.Env["RUNNER_CPU"], variables.Default("RUNNER_CPU")), "CPUs of each runner pod, as request and limit")
	flags.StringVar(&where.Memory, "runner-memory", cmp.Or(gs.Env["RUNNER_MEMORY"], variables.Default("RUNNER_MEMORY")), "memory of each, requested and at most")
	flags.BoolVar(&print, "print", false, "print the manifests, and run nothing")
	return command.Alone(gs, cmd, "to choose scenarios give --only; ", func(dir string) int {
		if wrong := variables.Find("RUNNERS").Wrong(runners); wrong != "" {
			return exit.Say(gs.Stderr, exit.Usage, "--runners %s: %s", runners, wrong)
		}
		o.Runners = int(variables.Number("RUNNERS", runners))
		return command.Prepared(gs, &o, *rootFlag, dir, func() int {
			asked := cluster.Options{Options: o, Where: where}
			if print {
				return cluster.Print(asked)
			}
			return cluster.Run(asked)
		})
	})
}
