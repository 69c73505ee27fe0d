// SPDX-License-Identifier: AGPL-3.0-only

// Package cleanup is `windtunnel clean-up`: it removes what a run left on its targets.
package cleanup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/ambient"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/cleanup"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/variables"
)

func New(gs *state.GlobalState) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "clean-up RUN",
		Short: "Remove from its targets what a run left there, such as users and topics",
		Long: `A run removes at its end what it made. If the target did not answer then, this command removes the rest: objects that
have both the run's prefix and its mark, and no others. The command needs the variables of the run: secrets, and
addresses that replaced those of the environment.

Without --env and --system it takes the environment and the systems of results/RUN/run.json.

Exit codes:
    0  nothing of the run is left
    2  bad usage
    4  something may be left`,
		Example: "20261126-101500-quick-3fa2\n20261126-101500-quick-3fa2 --system panel --env production",
	}
	cmd.Flags().StringVar(&o.env, "env", "", "the environment (default: that of the run)")
	cmd.Flags().StringVar(&o.system, "system", "", "the system (default: all of the run)")
	cmd.Flags().StringVar(&o.root, "root", "", "the checkout (default: upward from here)")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		if len(args) != 1 {
			return exit.Say(gs.Stderr, exit.Usage, "give the id of one run; %s", command.See(cmd.Name()))
		}
		o.runID = args[0]
		if err := o.complete(gs, dir); err != nil {
			return exit.Say(gs.Stderr, exit.Usage, "%v", err)
		}
		return o.run(gs)
	})
}

type options struct {
	runID, env, system, root string
	scripts                  map[string]string // by system
}

// complete takes from the run's record what the user did not give.
func (o *options) complete(gs *state.GlobalState, dir string) (err error) {
	if o.root, err = root.Find(o.root, gs.Env["WINDTUNNEL_ROOT"], dir); err != nil {
		return err
	}
	if _, wrong := run.ID(o.runID, "", time.Now()); wrong != nil || o.runID == "" {
		return fmt.Errorf("%q is not the id of a run: its folder results/RUN has the id as its name", o.runID)
	}
	found, err := run.Read(filepath.Join(o.root, "results", o.runID))
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.system == "":
		return fmt.Errorf("there is no results/%s/%s: name the run's system with --system, and its environment with --env", o.runID, run.FileName)
	case err != nil && o.system == "":
		return err
	}
	o.env = cmp.Or(o.env, gs.Env["ENV"], found.Environment, variables.Default("ENV"))
	o.scripts = scriptsOf(o.root, o.system, found.Scenarios)
	if len(o.scripts) == 0 {
		return fmt.Errorf("%s leaves nothing on a target: there is no scripts/SYSTEM/_cleanup.js for it", cmp.Or(o.system, "run "+o.runID))
	}
	return nil
}

// scriptsOf are the scripts that remove what a run left, by system; of a given system alone. Its scenarios may be unknown.
func scriptsOf(base, system string, ran []run.Scenario) map[string]string {
	own := seq.Filter(ran, func(s run.Scenario) bool { return system == "" || s.System == system })
	if system != "" && len(own) == 0 {
		own = []run.Scenario{{System: system}}
	}
	scripts := map[string]string{}
	for _, s := range own {
		if script := cleanup.ScriptOf(base, s.System, s.Scenario); script != "" {
			scripts[s.System] = script
		}
	}
	return scripts
}

func (o *options) run(gs *state.GlobalState) int {
	env, problems := check.Environment(o.root, o.env)
	if len(problems) > 0 {
		return exit.Say(gs.Stderr, exit.Usage, "%v", problems[0])
	}
	program, err := os.Executable()
	if err != nil {
		return exit.Say(gs.Stderr, exit.Setup, "%v", err)
	}
	folder, err := os.MkdirTemp("", "windtunnel-clean-up-")
	if err != nil {
		return exit.Say(gs.Stderr, exit.Setup, "cannot make a folder for the log: %v", exit.Reason(err))
	}
	defer os.RemoveAll(folder)
	environ := o.environ(gs, folder)
	known := plan.Plan{Env: env}
	redactor := redact.New(known.Secrets(plan.Asked{Environ: environ}), known.Public()...)
	code := exit.Pass
	for _, system := range slices.Sorted(maps.Keys(o.scripts)) {
		child := children.K6{Program: program, Dir: o.root, Env: environ, LogPath: filepath.Join(folder, system+".log"), Redactor: redactor}
		if why := cleanup.Run(child, o.scripts[system]); why != "" {
			fmt.Fprintln(gs.Stderr, strings.TrimPrefix(why, "setup failed: "))
			code = exit.Setup
			continue
		}
		fmt.Fprintf(gs.Stdout, "%s: nothing of run %s is left\n", system, o.runID)
	}
	return code
}

// environ is the environment of the scripts. k6 finds no file of options in folder.
func (o *options) environ(gs *state.GlobalState, folder string) []string {
	own := maps.Clone(gs.Env)
	maps.DeleteFunc(own, func(name, _ string) bool { return variables.Foreign(name) })
	kept, _ := ambient.Without(command.Environ(own))
	return append(kept, "RUN_ID="+o.runID, "ENV="+o.env, "INSTANCE=", "K6_NO_USAGE_REPORT=true", "XDG_CONFIG_HOME="+folder)
}
