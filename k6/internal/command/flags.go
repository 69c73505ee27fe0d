// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel/k6/internal/variables"
)

// groupKey marks a flag with the title of its group; without one a flag is in the last group, of other flags.
const groupKey = "windtunnel_group"

// fromRegistry begins the titles of groups of flags that the registry of variables makes. Help only counts them.
const fromRegistry = "Variables of "

// Group puts flags into a group of the help, under a title.
func Group(flags *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		if err := flags.SetAnnotation(name, groupKey, []string{title}); err != nil {
			panic(err) // a name that is no flag is a mistake in this program
		}
	}
}

// environmentFlag is a flag that sets a variable of the environment of a command, as NAME=VALUE before it would.
type environmentFlag struct {
	variable variables.Variable
	env      map[string]string
}

func (f environmentFlag) String() string { return "" }
func (f environmentFlag) Type() string   { return string(f.variable.Unit) }
func (f environmentFlag) Set(value string) error {
	f.env[f.variable.Name] = value
	return nil
}

// ownFlag is a flag that the registry describes and checks. It keeps its value for the command alone.
type ownFlag struct{ environmentFlag }

func (f ownFlag) String() string { return f.env[f.variable.Name] }
func (f ownFlag) Set(value string) error {
	if why := f.variable.Wrong(value); why != "" && value != "" {
		return errors.New(why)
	}
	return f.environmentFlag.Set(value)
}

// OwnFlags adds the command's flags in the registry, except flags that the command has already, and puts all into their groups. It
// returns the values that the user gives, by the names of the variables.
func OwnFlags(cmd *cobra.Command) (given map[string]string) {
	given = map[string]string{}
	for _, v := range variables.OfCommand(cmd.Name()) {
		name, flags := variables.FlagName(v.Name), cmd.Flags()
		if flags.Lookup(name) == nil {
			flags.Var(ownFlag{environmentFlag{v, given}}, name, variables.Explain(v.Name))
			if v.Default != nil {
				flags.Lookup(name).DefValue = variables.Default(v.Name)
			}
		}
		if group := v.Flags[cmd.Name()]; group != "" {
			Group(flags, group, name)
		}
	}
	return given
}

// k6Flags are flags that k6 itself gives all of its subcommands, and that variables have the names of.
var k6Flags = []string{"address"}

// VariableFlags adds a flag for each variable of scenarios that has no flag yet: RATE is --rate. A secret gets none, because other
// users of the machine can read the arguments of a process.
func VariableFlags(cmd *cobra.Command, env map[string]string) {
	taken := []string{}
	if program != calledAs {
		taken = k6Flags
	}
	for _, g := range variables.Groups() {
		for _, v := range g.Variables() {
			name := variables.FlagName(v.Name)
			if v.Unit == variables.SecretValue || slices.Contains(taken, name) || cmd.Flags().Lookup(name) != nil || slices.Equal(v.Of, []string{"make"}) {
				continue
			}
			cmd.Flags().Var(environmentFlag{v, env}, name, v.What)
			Group(cmd.Flags(), fromRegistry+g.Title, name)
		}
	}
}

// WithUsage makes a command that hands its arguments on say in its help how it is called.
func WithUsage(cmd *cobra.Command) *cobra.Command {
	cmd.SetUsageFunc(usage)
	return cmd
}

// usage prints how to call a command: its examples, and its flags in their groups.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n  %s\n", strings.Join(Examples(cmd), "\n  "))
	}
	titles, groups, counted := Grouped(cmd.LocalFlags())
	for _, title := range titles {
		fmt.Fprintf(&b, "\n%s:\n%s", title, groups[title].FlagUsagesWrapped(width))
	}
	if counted > 0 {
		fmt.Fprintf(&b, "\nVariables:\n      --NAME VALUE   each of %d variables of scenarios is a flag, too: RATE=500 is --rate 500.\n"+
			"                     `%s` lists them\n", counted, sibling(cmd, "variables"))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(width))
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// width of help, in columns.
const width = 120

// Grouped sorts flags into their groups, which come in the order of their first flag as declared; flags of the registry are counted.
func Grouped(flags *pflag.FlagSet) (titles []string, groups map[string]*pflag.FlagSet, counted int) {
	const others = "Other flags"
	groups = map[string]*pflag.FlagSet{}
	flags.VisitAll(func(flag *pflag.Flag) {
		title := others
		if marked := flag.Annotations[groupKey]; len(marked) > 0 {
			title = marked[0]
		}
		switch {
		case flag.Hidden:
			return
		case strings.HasPrefix(title, fromRegistry):
			counted++
			return
		case groups[title] == nil:
			groups[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			groups[title].SortFlags = false
			if title != others {
				titles = append(titles, title)
			}
		}
		groups[title].AddFlag(flag)
	})
	if groups[others] != nil {
		titles = append(titles, others)
	}
	return titles, groups, counted
}

// Examples returns the examples of a command, one a line. The command writes them without its path.
func Examples(cmd *cobra.Command) (lines []string) {
	for line := range strings.Lines(cmd.Example) {
		lines = append(lines, strings.TrimSpace(cmd.CommandPath()+" "+strings.TrimSpace(line)))
	}
	return lines
}

// sibling is how another command of the same parent is called.
func sibling(cmd *cobra.Command, name string) string {
	if cmd.HasParent() {
		return cmd.Parent().CommandPath() + " " + name
	}
	return name
}
