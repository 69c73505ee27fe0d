// SPDX-License-Identifier: AGPL-3.0-only

// Package command has code that the subcommands of `k6 x` share.
package command

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/exit"
)

// Finish makes cmd call a function with the current folder and the arguments, and exit with the returned code. For a
// wrong flag, cmd exits with exit.Usage and a line that names the help.
func Finish(gs *state.GlobalState, cmd *cobra.Command, run func(dir string, args []string) int) *cobra.Command {
	cmd.Run = func(_ *cobra.Command, args []string) {
		dir, err := gs.Getwd()
		code := exit.Setup
		if err != nil {
			fmt.Fprintln(gs.Stderr, err)
		} else {
			code = run(dir, args)
		}
		if code != exit.Pass {
			gs.OSExit(code)
		}
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		fmt.Fprintf(gs.Stderr, "%s; %s\n", wrongFlag(cmd, err), See(cmd.Name()))
		gs.OSExit(exit.Usage)
		return err
	})
	cmd.SetUsageFunc(usage)
	cmd.Flags().SortFlags = false // they come as they were declared
	return cmd
}

// Alone is Finish for a command without arguments. It says what to give instead, with "; " at the end, or nothing.
func Alone(gs *state.GlobalState, cmd *cobra.Command, instead string, run func(dir string) int) *cobra.Command {
	return Finish(gs, cmd, func(dir string, args []string) int {
		if len(args) > 0 {
			return exit.Say(gs.Stderr, exit.Usage, "unexpected argument %q; %s%s", args[0], instead, See(cmd.Name()))
		}
		return run(dir)
	})
}

var wrongValue = regexp.MustCompile(`^invalid argument ("(?s:.*)") for "(?:-., )?--(\S+)" flag: `)

const unknownFlag = "unknown flag: --"

// wanted describes the values of a flag, by the name of its type.
var wanted = map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}

// wrongFlag says what is wrong with a flag. It replaces the parser's words for a value of the wrong type.
func wrongFlag(cmd *cobra.Command, err error) string {
	if unknown, found := strings.CutPrefix(err.Error(), unknownFlag); found {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		if meant := closest.Match(unknown, names); meant != "" {
			return err.Error() + "; is it --" + meant + "?"
		}
		return err.Error()
	}
	m := wrongValue.FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	flag := cmd.Flags().Lookup(m[2])
	if flag == nil {
		return err.Error()
	}
	why := wanted[flag.Value.Type()] + " is wanted"
	if _, own := flag.Value.(ownFlag); own {
		why = strings.TrimPrefix(err.Error(), m[0])
	} else if wanted[flag.Value.Type()] == "" {
		return err.Error()
	}
	return fmt.Sprintf("--%s %s: %s", m[2], m[1], why)
}
