// SPDX-License-Identifier: AGPL-3.0-only

package door

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

// Page is where the reference of the front door is in a checkout.
const Page = "docs/reference/windtunnel.md"

// reference writes the page that is made of all commands, or compares it.
func reference(gs *state.GlobalState) *cobra.Command {
	var rootFlag string
	var check bool
	cmd := &cobra.Command{
		Use:   "reference",
		Short: "Write the page of all commands, " + Page,
		Long:  "Writes " + Page + " from the commands and their flags. make variables runs it, and make lint compares the page.",
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and end with 2 if the page is not what it would be")
	cmd.Flags().StringVar(&rootFlag, "root", "", "the checkout (default: upward from here)")
	return command.Finish(gs, cmd, func(dir string, _ []string) int {
		base, err := root.Find(rootFlag, gs.Env["WINDTUNNEL_ROOT"], dir)
		if err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		// The caller's variables are defaults of flags, and no matter to the page.
		bare := *gs
		bare.Env = map[string]string{}
		path, page := filepath.Join(base, Page), Markdown(Root(&bare))
		if check {
			if there, _ := os.ReadFile(path); string(there) != page { // a missing page is not what it would be
				return exit.Say(gs.Stderr, exit.Usage, "%s is not what the commands make it: run `make variables`", Page)
			}
			return exit.Pass
		}
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			return exit.Say(gs.Stderr, exit.Setup, "%v", err)
		}
		return exit.Pass
	})
}

// Markdown is the page of all commands of the front door.
func Markdown(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# windtunnel

<!-- ` + "`make variables`" + ` writes this page from the commands and from k6/lists/variables.json. -->

` + "`bin/windtunnel`" + ` has all commands. The program is ` + "`bin/k6`" + ` under another name:
` + "`bin/k6 x COMMAND`" + ` does the same as ` + "`windtunnel COMMAND`" + `. Make builds both by ` + "`make bin/windtunnel`" + `, and a release has both.

- ` + "`windtunnel doctor`" + ` says what this machine can run, and why not the rest.
- ` + "`windtunnel COMMAND --help`" + ` explains a command.
- ` + "`source <(windtunnel completion bash)`" + ` completes commands, flags and values. Shells are bash, zsh and fish.
- A flag counts before the environment variable of its name: ` + "`--run-id`" + ` before ` + "`RUN_ID`" + `.

`)
	b.WriteString("| command | what it does |\n|---|---|\n")
	names := commandsOf(root)
	for _, cmd := range names {
		fmt.Fprintf(&b, "| [`%s`](#windtunnel-%[1]s) | %s |\n", cmd.Name(), cmd.Short)
	}
	for _, cmd := range names {
		write(&b, cmd)
	}
	return b.String()
}

func commandsOf(root *cobra.Command) []*cobra.Command {
	return seq.Filter(root.Commands(), func(cmd *cobra.Command) bool { return cmd.IsAvailableCommand() && cmd.Name() != "help" })
}

func write(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## windtunnel %s\n\n", cmd.Name())
	if cmd.DisableFlagParsing {
		of := "sidecar"
		if cmd.Name() == "run" {
			of = "k6"
		}
		fmt.Fprintf(b, "%s. All arguments are handed on to `%s %s`, whose `--help` has them.\n", cmd.Short, of, cmd.Name())
		return
	}
	fmt.Fprintf(b, "%s.\n\n    %s\n", strings.TrimSuffix(cmd.Short, "."), cmd.UseLine())
	if cmd.Long != "" {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", cmd.Long)
	}
	if cmd.HasExample() {
		fmt.Fprintf(b, "\nExamples:\n\n    %s\n", strings.Join(command.Examples(cmd), "\n    "))
	}
	titles, groups, counted := command.Grouped(cmd.LocalNonPersistentFlags())
	if len(titles) > 0 {
		b.WriteString("\n| flag | variable | what it is | default |\n|---|---|---|---|\n")
	}
	for _, title := range titles {
		groups[title].VisitAll(func(flag *pflag.Flag) {
			if flag.Name != "help" {
				fmt.Fprintln(b, row(flag))
			}
		})
	}
	if counted > 0 {
		fmt.Fprintf(b, "\nEach of %d variables of scenarios is a flag, too: `RATE=500` is `--rate 500`. `windtunnel variables` lists them.\n", counted)
	}
}

// row is a flag's line in the table of its command. The registry's variable has the flag's name in capitals.
func row(flag *pflag.Flag) string {
	variable, byDefault := "", ""
	for _, v := range variables.All {
		if variables.FlagName(v.Name) == flag.Name {
			variable = "`" + v.Name + "`"
		}
	}
	if flag.DefValue != "" && flag.DefValue != "false" {
		byDefault = "`" + flag.DefValue + "`"
	}
	cells := []string{"`--" + flag.Name + "`", variable, flag.Usage, byDefault}
	for i := range cells {
		cells[i] = strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(cells[i])
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
