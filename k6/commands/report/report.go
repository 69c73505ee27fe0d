// SPDX-License-Identifier: AGPL-3.0-only

// Package report is `k6 x report`: it makes reports from results and gives the verdict.
package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/root"
)

// Options are the command's arguments. Dir is the current folder, Variable the value of
// WINDTUNNEL_ROOT.
type Options struct {
	Paths     []string
	Formats   string
	Out       string
	Reference bool
	Dir       string
	Variable  string
}

func New(gs *state.GlobalState) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "report RUN|FILE...",
		Short: "Write the report of a run and end with its verdict",
		Long: `Reads results/RUN (a folder, or the name of a run) or result files, writes report.md,
report.html and report.xml (JUnit) there, prints the summary and ends with the verdict.

` + exit.Help,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Formats, "format", strings.Join(report.Formats(), ","), "what to write")
	flags.StringVar(&o.Out, "out", "", "folder to write to (default the folder of the run)")
	flags.BoolVar(&o.Reference, "reference", false, "show published figures of another machine beside ours")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dir, o.Variable = args, dir, gs.Env["WINDTUNNEL_ROOT"]
		return Run(gs.Stdout, gs.Stderr, o)
	})
}

// Run makes the report and returns the exit code.
func Run(stdout, stderr io.Writer, o Options) int {
	if len(o.Paths) == 0 {
		return exit.Say(stderr, exit.Usage, "give a run, such as results/latest; %s", command.See("report"))
	}
	formats, err := report.ParseFormats(o.Formats)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	paths := command.Locate(o.Paths, o.Dir, o.Variable)
	set, err := report.Load(paths)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	out := paths[0]
	if info, err := os.Stat(out); err != nil || !info.IsDir() {
		out = filepath.Dir(out)
	}
	out = root.Absolute(cmp.Or(o.Out, out), o.Dir)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return exit.Say(stderr, exit.Setup, "cannot make %v", err)
	}
	options := report.Options{Reference: o.Reference}
	if err := report.Write(set, out, formats, options); err != nil {
		return exit.Say(stderr, exit.Setup, "cannot write the report: %v", err)
	}
	fmt.Fprint(stdout, report.SummaryMarkdown(set, options))
	return set.ExitCode()
}
