// SPDX-License-Identifier: AGPL-3.0-only

package command

import (
	"maps"
	"testing"

	"github.com/spf13/cobra"
)

func TestTheRegistryDescribesAndChecksACommandsOwnFlags(t *testing.T) {
	cmd := &cobra.Command{Use: "compare"}
	for _, name := range []string{"runs", "same", "testbed"} {
		cmd.Flags().String(name, "", "") // these have other words here, or other bounds
	}
	given := OwnFlags(cmd)
	if err := cmd.ParseFlags([]string{"--worse-by", "5", "--minutes", "", "--runs", "auto"}); err != nil || !maps.Equal(given, map[string]string{"WORSE_BY": "5", "MINUTES": ""}) {
		t.Error(err, given)
	}
	if flag := cmd.Flags().Lookup("secondary"); flag.DefValue != "on" || flag.Annotations[groupKey][0] != "How long, and how much worse" {
		t.Errorf("%+v", flag)
	}
	for want, args := range map[string][]string{
		`--worse-by "-3": a number from 0 to 10,000 is wanted`:           {"--worse-by", "-3"},
		`--worse-by "1,5": a number from 0 to 10,000 is wanted`:          {"--worse-by", "1,5"},
		`--minutes "1.5": a whole number from 1 to 10,000 min is wanted`: {"--minutes", "1.5"},
		`--secondary "maybe": choose one of on, off`:                     {"--secondary", "maybe"},
	} {
		if err := cmd.ParseFlags(args); err == nil || wrongFlag(cmd, err) != want {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

func TestWrongFlag(t *testing.T) {
	for want, args := range map[string][]string{
		`--runs "abc": a whole number is wanted`:                  {"--runs", "abc"},
		`--runs "99999999999999999999": a whole number is wanted`: {"--runs", "99999999999999999999"},
		`--worse-by "1,5": a number is wanted`:                    {"--worse-by", "1,5"},
		`--dashboard "maybe": true or false is wanted`:            {"--dashboard=maybe"},
		`unknown flag: --frobnicate`:                              {"--frobnicate"},
		`unknown flag: --rnus; is it --runs?`:                     {"--rnus", "3"},
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
