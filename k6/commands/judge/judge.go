// SPDX-License-Identifier: AGPL-3.0-only

// Package judge is `k6 x judge`: it makes a result from a run's records again.
package judge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

func New(gs *state.GlobalState) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "judge RECORD… | FOLDER",
		Short: "Judge a run's records again, and end with its verdict",
		Long: `Reads results/RUN/SYSTEM-SCENARIO.record, which has a run's samples and its other evidence,
and prints the result. A run of several runners has one record per runner: give all of them, or
the run's folder, whose runs are judged one after the other. docs/explanation/judge.md describes the file.

` + exit.Help,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as its file has it")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		return Run(gs.Stdout, gs.Stderr, args, asJSON, dir)
	})
}

// Run judges the records and returns the exit code of their verdict; dir is the current folder.
func Run(stdout, stderr io.Writer, paths []string, asJSON bool, dir string) int {
	runs, err := runsOf(paths, dir)
	if err == nil && asJSON && len(runs) > 1 {
		err = fmt.Errorf("%s has %d runs, and --json prints one result; give the records of one", paths[0], len(runs))
	}
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	all := seq.Map(runs, func(records []string) int { return print(stdout, stderr, records, asJSON) })
	if slices.Contains(all, exit.Usage) {
		return exit.Usage
	}
	return exit.Worst(all...)
}

func print(stdout, stderr io.Writer, paths []string, asJSON bool) int {
	records := judge.Open(paths...)
	defer judge.Close(records)
	found, err := judge.Runners(records)
	text := []byte(found.Text() + "\n")
	if err == nil && asJSON {
		text, err = found.File()
	}
	if err != nil {
		return exit.Say(stderr, exit.Usage, "%v", err)
	}
	_, _ = stdout.Write(text)
	return run.ExitCode(found.Verdict)
}

// runsOf groups the records by run. Given files are one run; the files of a folder are grouped by their names.
func runsOf(paths []string, dir string) (runs [][]string, err error) {
	if len(paths) == 0 {
		return nil, errors.New("give the records of a run, such as results/latest/pulsar-ingest.record, or its folder; " + command.See("judge"))
	}
	for i, path := range paths {
		paths[i] = root.Absolute(path, dir)
	}
	info, err := os.Stat(paths[0])
	if err != nil || !info.IsDir() {
		return [][]string{paths}, nil
	}
	if len(paths) > 1 {
		return nil, fmt.Errorf("%s is a folder; give one folder, or records", filepath.Base(paths[0]))
	}
	files := listing.In(paths[0], "*"+record.Extension)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no record is in it", filepath.Base(paths[0]))
	}
	return seq.Group(files, func(file string) string {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		return name
	}), nil
}
