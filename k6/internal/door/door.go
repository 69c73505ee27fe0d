// SPDX-License-Identifier: AGPL-3.0-only

// Package door is `windtunnel`: the one command that has all of ours. The program k6 runs it under that name.
package door

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"

	"windtunnel/k6/commands/baseline"
	"windtunnel/k6/commands/bench"
	"windtunnel/k6/commands/bundle"
	"windtunnel/k6/commands/cleanup"
	"windtunnel/k6/commands/cluster"
	"windtunnel/k6/commands/comment"
	"windtunnel/k6/commands/compare"
	"windtunnel/k6/commands/coordinate"
	"windtunnel/k6/commands/doctor"
	"windtunnel/k6/commands/judge"
	"windtunnel/k6/commands/keep"
	"windtunnel/k6/commands/needs"
	"windtunnel/k6/commands/primitives"
	"windtunnel/k6/commands/report"
	"windtunnel/k6/commands/target"
	"windtunnel/k6/commands/trend"
	"windtunnel/k6/commands/validate"
	"windtunnel/k6/commands/variables"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
)

// Name is what the program is called where it is the front door.
const Name = "windtunnel"

// entry is a command, and its name as a subcommand of k6; "" if only the front door has it.
type entry struct {
	name string
	make subcommand.Constructor
}

type section struct {
	title    string
	commands []entry
}

// sections are all commands, in the order in which help lists them.
func sections() []section {
	return []section{
		{"Measure", []entry{{"bench", bench.New}, {"compare", compare.New}, {"panel-compare", compare.NewPanel}, {"cluster", cluster.New},
			{"primitives", primitives.New}, {"clean-up", cleanup.New}}},
		{"Look at results", []entry{{"report", report.New}, {"keep", keep.New}, {"baseline", baseline.New}, {"trend", trend.New},
			{"judge", judge.New}, {"comment", comment.New}}},
		{"Use one part alone", []entry{{"", runByK6}, {"", sidecars("probe", "Measure a SOCKS5 proxy, or a server directly")},
			{"", sidecars("link", "List, check, measure and start links between two network namespaces")},
			{"", sidecars("testbed", "List, show and start testbeds")}}},
		{"Look at the machine and the checkout", []entry{{"doctor", doctor.New}, {"validate", validate.New}, {"variables", variables.New}, {"", completion}}},
		{"For other programs", []entry{{"bundle", bundle.New}, {"needs", needs.New}, {"target", target.New}, {"coordinate", coordinate.New}, {"", reference}}},
	}
}

func init() {
	for _, s := range sections() {
		for _, c := range s.commands {
			if c.name != "" {
				subcommand.RegisterExtension(c.name, c.make)
			}
		}
	}
}

// Is reports whether a program that was called by this path is the front door, and not k6.
func Is(program string) bool { return filepath.Base(program) == Name }

// ofK6 are the commands that k6 itself has: the front door lets k6 run them.
var ofK6 = []string{"run", "x", "archive", "cloud", "deps", "inspect", "login", "new", "pause", "resume", "scale", "stats", "status", "version"}

// OfK6 reports whether arguments are of a command of k6 itself.
func OfK6(args []string) bool {
	i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if i < 0 {
		return slices.Contains(args, "--version")
	}
	return slices.Contains(ofK6, args[i])
}

// Root is the command `windtunnel` with all others below it.
func Root(gs *state.GlobalState) *cobra.Command {
	root := &cobra.Command{
		Use:           Name,
		Short:         "Put a proxy stack under load, and get a verdict that can be trusted",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		Run: func(cmd *cobra.Command, args []string) {
			if len(args) > 0 {
				fmt.Fprintln(gs.Stderr, unknown(cmd, args[0]))
				gs.OSExit(exit.Usage)
				return
			}
			_ = cmd.Help() // to standard output
		},
	}
	root.PersistentFlags().BoolVar(&gs.Flags.NoColor, "no-color", gs.Flags.NoColor, "print without colours")
	root.SetOut(gs.Stdout)
	root.SetErr(gs.Stderr)
	root.SetArgs(gs.CmdArgs[1:])
	for _, s := range sections() {
		for _, add := range s.commands {
			root.AddCommand(add.make(gs))
		}
	}
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), list(gs))
		return err
	})
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w; see %s --help", err, Name) })
	command.Complete(root, gs)
	return root
}

// Execute runs the command that the arguments name, and ends the process.
func Execute(gs *state.GlobalState) {
	command.CalledByDoor()
	if err := Root(gs).Execute(); err != nil {
		fmt.Fprintln(gs.Stderr, err)
		gs.OSExit(exit.Usage)
	}
}

// unknown reports a command that the front door does not have, and names commands of similar spelling.
func unknown(root *cobra.Command, name string) string {
	root.SuggestionsMinimumDistance = 2
	line := fmt.Sprintf("%s has no command %q", Name, name)
	if near := root.SuggestionsFor(name); len(near) > 0 {
		line += "; is it " + strings.Join(near, " or ") + "?"
	}
	return line + "; see " + Name + " --help"
}

func list(gs *state.GlobalState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s COMMAND [FLAGS]\n", Name)
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		for _, add := range s.commands {
			cmd := add.make(gs)
			fmt.Fprintf(&b, "  %-14s %s\n", cmd.Name(), cmd.Short)
		}
	}
	fmt.Fprintf(&b, `
Examples:
  %[1]s doctor
  %[1]s bench --only pulsar/ingest --profile quick --rate 500
  %[1]s compare --scenario dataplane/socks-tcp --a sing-box-pair --b xray-pair
  %[1]s report results/latest

%[1]s COMMAND --help explains a command. %[1]s completion --help says how a shell completes them.
In a checkout, make SYSTEM-SCENARIO builds what is missing, and then does the same as %[1]s bench.
`, Name)
	return b.String()
}
