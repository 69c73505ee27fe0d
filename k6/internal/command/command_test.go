// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestWrongFlag(t *testing.T) {
	for want, args := range map[string][]string{
		`--runs "abc": a whole number is wanted`:                  {"--runs", "abc"},
		`--runs "99999999999999999999": a whole number is wanted`: {"--runs", "99999999999999999999"},
		`--worse-by "1,5": a number is wanted`:                    {"--worse-by", "1,5"},
		`--dashboard "maybe": true or false is wanted`:            {"--dashboard=maybe"},
		`unknown flag: --rnus`:                                    {"--rnus", "3"},
	} {
		cmd := &cobra.Command{Use: "x"}
		cmd.Flags().Int("runs", 1, "")
		cmd.Flags().Float64("worse-by", 1, "")
		cmd.Flags().Bool("dashboard", false, "")
		err := cmd.ParseFlags(args)
		if err == nil {
			t.Fatalf("%v is taken", args)
		}
		if got := wrongFlag(cmd, err); got != want {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
}
