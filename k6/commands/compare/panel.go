// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/target"
)

// NewPanel returns the command `panel-compare`: a comparison of two database drivers of the panel.
func NewPanel(gs *state.GlobalState) *cobra.Command {
	cmd := New(gs)
	cmd.Use = "panel-compare --a DRIVER --b DRIVER"
	cmd.Short = "Compare two database drivers of the panel"
	cmd.Long = `Compares two database drivers of the panel, such as pymysql and asyncmy, or a driver with a version, or with a colon
whole testbeds: users are created, disabled and enabled. It is compare with other defaults.

` + Help
	cmd.Example = "--a pymysql --b asyncmy\n--a sqlite --b asyncmy --runs 12"
	flags := cmd.Flags()
	byDefault := map[string]string{"scenario": target.PanelScenarios}
	if gs.Env["PROFILE"] == "" {
		byDefault["profile"] = target.ComparisonProfile
	}
	for name, value := range byDefault {
		flags.Lookup(name).DefValue = value
	}
	compare := cmd.Run
	cmd.Run = func(cmd *cobra.Command, args []string) {
		for name, value := range byDefault {
			if !flags.Changed(name) {
				_ = flags.Set(name, value) // these flags take any text
			}
		}
		for _, side := range []string{"a", "b"} {
			if given := flags.Lookup(side).Value.String(); given != "" {
				_ = flags.Set(side, target.PanelSide(given))
			}
		}
		compare(cmd, args)
	}
	return cmd
}
