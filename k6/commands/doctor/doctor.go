// SPDX-License-Identifier: AGPL-3.0-only

// Package doctor is `windtunnel doctor`: it says what this machine and this user can run.
package doctor

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/doctor"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

func New(gs *state.GlobalState) *cobra.Command {
	var rootFlag string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine and this user can run, and why not the rest",
		Long: `Looks at programs, network namespaces, TUN, TPROXY, sshd, limits of files and CPUs, clock, governor, perf,
busy neighbours, containers and Kubernetes. Each line says what was found; where something is limited or
missing, the next lines say what does not work, and how to fix that. The check takes a second or two, makes namespaces
and devices that end with it, and changes nothing.

Exit codes:
    0  a bench can run here, as a whole or in part
    2  bad usage
    4  no bench can run here`,
		Example: "\n--json",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON, for programs")
	cmd.Flags().StringVar(&rootFlag, "root", "", "the checkout (default: upward from here)")
	return command.Alone(gs, cmd, "", func(dir string) int {
		base, err := root.Find(rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		found := doctor.Examine(base)
		if asJSON {
			encoder := json.NewEncoder(gs.Stdout)
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(map[string]any{"sections": found}); err != nil {
				return exit.Say(gs.Stderr, exit.Setup, "%v", err)
			}
		} else {
			fmt.Fprint(gs.Stdout, doctor.Text(found))
		}
		if doctor.Stopped(found) {
			return exit.Setup
		}
		return exit.Pass
	})
}
