// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

// Complete lets a shell complete the values of flags of all commands below one: choices of the registry, and what the checkout has.
func Complete(cmd *cobra.Command, gs *state.GlobalState) {
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if values := valuesOf(flag.Name, gs); values != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag.Name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return values(), cobra.ShellCompDirectiveNoFileComp
			}) // it fails for a flag that has one already
		}
	})
	for _, child := range cmd.Commands() {
		Complete(child, gs)
	}
}

// valuesOf lists the values that a flag may have; nil if nothing bounds them.
func valuesOf(flag string, gs *state.GlobalState) func() []string {
	switch flag {
	case "only", "scenario":
		return scenarios
	case "env":
		return func() []string { return Named(gs, "environments", ".json") }
	case "testbed":
		return func() []string { return Named(gs, "testbeds", ".toml") }
	case "link":
		return func() []string { return Named(gs, "links", ".toml") }
	}
	for _, v := range variables.All {
		if variables.FlagName(v.Name) == flag && v.Choices != nil {
			return func() []string { return v.Choices }
		}
	}
	return nil
}

// scenarios are systems, and scenarios as SYSTEM/SCENARIO.
func scenarios() []string {
	names := variables.Scenarios()
	systems := seq.Map(names, func(scenario string) string { return scenario[:strings.Index(scenario, "/")] })
	return append(names, seq.Distinct(systems)...)
}

// Named are the names of the files of a folder of the checkout, without their ending.
func Named(gs *state.GlobalState, folder, ending string) []string {
	dir, err := gs.Getwd()
	if err != nil {
		return nil
	}
	base, err := root.Find("", gs.Env["WINDTUNNEL_ROOT"], dir)
	if err != nil {
		return nil
	}
	return listing.Stems(filepath.Join(base, folder), ending)
}
