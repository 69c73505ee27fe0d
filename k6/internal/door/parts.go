// SPDX-License-Identifier: AGPL-3.0-only

package door

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

// sidecars makes a command that the sidecar has: all arguments are handed on to it, --help too.
func sidecars(name, short string) func(*state.GlobalState) *cobra.Command {
	return func(gs *state.GlobalState) *cobra.Command {
		cmd := &cobra.Command{
			Use:                name + " …",
			Short:              short,
			Long:               fmt.Sprintf("%s. All arguments are handed on to the sidecar: see %s %s --help.", short, Name, name),
			DisableFlagParsing: true,
			ValidArgsFunction:  words(gs, name),
			Run: func(_ *cobra.Command, args []string) {
				fmt.Fprintln(gs.Stderr, handOn(gs, append([]string{name}, args...)))
				gs.OSExit(exit.Setup)
			},
		}
		return command.WithUsage(cmd)
	}
}

// become replaces this process by a program: tests put another function here.
var become = syscall.Exec

// handOn becomes the sidecar; it returns only if that fails, with the reason.
func handOn(gs *state.GlobalState, args []string) error {
	path, err := sidecar(gs)
	if err != nil {
		return err
	}
	if err := become(path, append([]string{path}, args...), command.Environ(gs.Env)); err != nil {
		return fmt.Errorf("%s cannot be started: %w", path, err)
	}
	return nil
}

// sidecar is the path of the checkout's sidecar, or of the one beside this program.
func sidecar(gs *state.GlobalState) (string, error) {
	var folders []string
	if dir, err := gs.Getwd(); err == nil {
		if base, err := root.Find("", gs.Env["WINDTUNNEL_ROOT"], dir); err == nil {
			folders = append(folders, filepath.Join(base, "bin"))
		}
	}
	if self, err := os.Executable(); err == nil && !slices.Contains(folders, filepath.Dir(self)) {
		folders = append(folders, filepath.Dir(self))
	}
	for _, folder := range folders {
		path := filepath.Join(folder, "sidecar")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program sidecar is not in %s; run `make bin/sidecar` in the checkout", strings.Join(folders, " or "))
}

// subcommands lists the words after testbed and link, for completion.
var subcommands = map[string][]string{
	"testbed": {"list", "show", "check", "needs", "up", "run"},
	"link":    {"list", "check", "up", "calibrate"},
}

// words completes a subcommand, and then the name of a testbed or a link.
func words(gs *state.GlobalState, name string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return subcommands[name], cobra.ShellCompDirectiveNoFileComp
		case len(args) > 1:
			return nil, cobra.ShellCompDirectiveDefault
		case name == "testbed":
			return command.Named(gs, "testbeds", ".toml"), cobra.ShellCompDirectiveNoFileComp
		case name == "link":
			return command.Named(gs, "links", ".toml"), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// runByK6 stands for `k6 run` in the list of commands: main lets k6 itself run it.
func runByK6(*state.GlobalState) *cobra.Command {
	return command.WithUsage(&cobra.Command{
		Use:                "run SCRIPT",
		Short:              "Run one script by k6 alone, with k6's own flags",
		Long:               "Runs one script by k6 alone, with k6's own flags: see " + Name + " run --help.",
		DisableFlagParsing: true,
		Run:                func(*cobra.Command, []string) {},
	})
}

// completion prints what a shell reads to complete commands, flags and their values.
func completion(gs *state.GlobalState) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print what a shell reads to complete commands, flags and values",
		Long: `Prints what a shell reads to complete commands, flags and their values:
scenarios, profiles, environments, testbeds and links of the checkout.

  bash:  source <(windtunnel completion bash)
  zsh:   source <(windtunnel completion zsh)
  fish:  windtunnel completion fish | source

Put the line into the shell's start-up file. The program must be in PATH under the name windtunnel.`,
		Example:   "bash",
		ValidArgs: []string{"bash", "zsh", "fish"},
	}
	return command.Finish(gs, cmd, func(_ string, args []string) int {
		var err error
		switch strings.Join(args, " ") {
		case "bash":
			err = cmd.Root().GenBashCompletionV2(gs.Stdout, true)
		case "zsh":
			err = cmd.Root().GenZshCompletion(gs.Stdout)
		case "fish":
			err = cmd.Root().GenFishCompletion(gs.Stdout, true)
		default:
			return exit.Say(gs.Stderr, exit.Usage, "give bash, zsh or fish; %s", command.See(cmd.Name()))
		}
		if err != nil {
			return exit.Say(gs.Stderr, exit.Setup, "%v", err)
		}
		return exit.Pass
	})
}
