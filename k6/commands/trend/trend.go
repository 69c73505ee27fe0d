// SPDX-License-Identifier: AGPL-3.0-only

// Package trend is `k6 x trend`: it keeps a history of runs and shows where their figures changed.
package trend

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/baseline"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/trend"
)

// Options are the command's arguments. Otava is the path of Otava, "" for the checkout's. Dir is the current folder,
// Variable the value of WINDTUNNEL_ROOT. Influx has the address to stream to, nil without streaming.
type Options struct {
	Paths               []string
	History, Out        string
	Commit, Otava       string
	Dir, Variable, Root string
	Influx              *influx.Config
}

func New(gs *state.GlobalState) *cobra.Command {
	var o Options
	var stream bool
	cmd := &cobra.Command{
		Use:   "trend [RUN...]",
		Short: "Keep a history of runs, and show where their figures changed",
		Long: `Adds runs (folders, names of runs in results/, baselines) to the histories of their classes of
machine. Each history is an append-only file of JSON lines. Then finds in each
history, with Apache Otava, where metrics changed, and writes a page per history with a graph for
each metric, and its latest point for Bencher and for github-action-benchmark. It informs and
gates nothing: changes end it with 0, too (docs/how-to/trend.md).

Exit codes:
    0  done, whatever changed
    2  bad usage, a malformed history, or a run of another class of machine than the history
    4  Otava is not installed, or a file cannot be written`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.History, "history", "", "folder of the histories, or the file of one (default results/history of the checkout)")
	flags.StringVar(&o.Out, "out", "", "folder to write pages and exports to (default that of the histories)")
	flags.StringVar(&o.Commit, "commit", "", "what was measured, such as the system's commit; shown at changes (default its versions)")
	flags.StringVar(&o.Otava, "otava", "", "Apache Otava's program (default .venv/trend/bin/otava of the checkout)")
	flags.BoolVar(&stream, "stream", false, "write the histories to the InfluxDB that INFLUX names, too")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		o.Paths, o.Dir, o.Variable = args, dir, gs.Env["WINDTUNNEL_ROOT"]
		if stream {
			config, err := influx.FromEnvironment(func(name string) string { return gs.Env[name] })
			if err != nil {
				return exit.Say(gs.Stderr, exit.Usage, "%v", err)
			}
			o.Influx = &config
		}
		return Run(gs.Stdout, gs.Stderr, o)
	})
}

// Run adds the runs, writes the requested outputs and returns the exit code.
func Run(stdout, stderr io.Writer, o Options) int {
	var err error
	if o.Root, err = root.Find("", o.Variable, o.Dir); err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	history := root.Absolute(cmp.Or(o.History, filepath.Join(o.Root, "results", "history")), o.Dir)
	out := root.Absolute(cmp.Or(o.Out, history), o.Dir)
	if filepath.Ext(out) == trend.Extension {
		out = filepath.Dir(out)
	}
	otava := root.Absolute(cmp.Or(o.Otava, filepath.Join(o.Root, ".venv", "trend", "bin", "otava")), o.Dir)
	if _, err := os.Stat(otava); err != nil {
		return exit.Say(stderr, exit.Setup, "Apache Otava is not installed: run `make .venv/trend/.installed`, or give --otava")
	}
	if code := o.add(stdout, stderr, history); code != exit.Pass {
		return code
	}
	histories, err := trend.Histories(history)
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	for _, h := range histories {
		groups := h.Groups()
		if err := trend.Detect(otava, groups); err != nil {
			return exit.Say(stderr, exit.Setup, "%v", err)
		}
		tell(stdout, h, groups)
		page, err := write(out, h, groups)
		if err != nil {
			return exit.Say(stderr, exit.Setup, "cannot write the trend: %v", err)
		}
		fmt.Fprintf(stdout, "page: %s\n", command.Display(page, o.Dir))
		if o.Influx == nil {
			continue
		}
		if line := trend.Stream(*o.Influx, h, groups); line != "" {
			fmt.Fprintln(stderr, line)
		}
	}
	return exit.Pass
}

func (o Options) add(stdout, stderr io.Writer, history string) int {
	if len(o.Paths) == 0 {
		return exit.Pass
	}
	var folders []string
	for _, path := range command.Locate(o.Paths, o.Dir, o.Variable) {
		if _, err := os.Stat(filepath.Join(path, run.FileName)); err == nil {
			folders = append(folders, path)
			continue
		}
		kept, err := baseline.Find(o.Root, path)
		if err != nil {
			return exit.Say(stderr, exit.Usage, "%s is neither the folder of a run nor a baseline", path)
		}
		folders = append(folders, kept.Runs...)
	}
	points, left, err := trend.Points(folders, o.Commit, check.Beds(o.Root))
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	for _, line := range left {
		fmt.Fprintln(stderr, line)
	}
	added, err := trend.Add(history, points)
	if errors.Is(err, trend.ErrWrite) {
		return exit.Say(stderr, exit.Setup, "%v", err)
	}
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	fmt.Fprintf(stdout, "%d of %d points added; the others were there\n", added, len(points))
	return exit.Pass
}

func tell(stdout io.Writer, h trend.History, groups []trend.Group) {
	fmt.Fprintf(stdout, "\n%s\n%d points of %d series of runs\n", h.Class, len(h.Points), len(groups))
	for _, g := range groups {
		for _, line := range g.Lines() {
			fmt.Fprintf(stdout, "  %s\n", line)
		}
	}
	fmt.Fprintln(stdout, trend.Holds)
}

// write writes a history's page and exports, and returns the page's path.
func write(out string, h trend.History, groups []trend.Group) (string, error) {
	page, err := trend.HTML(h, groups)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	stem := filepath.Join(out, "trend-"+strings.TrimSuffix(filepath.Base(h.File), trend.Extension))
	smaller, bigger := trend.GitHub(groups)
	for name, value := range map[string]any{".bencher.json": trend.Bencher(groups), ".smaller.json": smaller, ".bigger.json": bigger} {
		data, err := json.MarshalIndent(value, "", " ")
		if err != nil {
			return "", err
		}
		if err := run.WriteFile(stem+name, append(data, '\n')); err != nil {
			return "", err
		}
	}
	return stem + ".html", run.WriteFile(stem+".html", page)
}
