// SPDX-License-Identifier: AGPL-3.0-only

// Package primitives is `k6 x primitives`: it makes a result and a report from the measurements of `sidecar bench
// primitives`.
package primitives

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/primitives"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/root"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/stream"
)

func New(gs *state.GlobalState) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "primitives DIR",
		Short: "Judge a run of `sidecar bench primitives`, and report it",
		Long: `Reads DIR/evidence/primitives.json, which sidecar bench primitives --out DIR/evidence has
written, judges whether its figures can be trusted, compares AES-256-GCM and
ChaCha20-Poly1305 at each size by the rounds of the run, writes the result and the reports of
a run into DIR, and prints the report. It streams the result where INFLUX says so.

` + exit.Help,
	}
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		return Run(gs.Stdout, gs.Stderr, args, dir, func(name string) string { return gs.Env[name] })
	})
}

// Run judges the run in a folder and returns the exit code. dir is the current folder, getenv reads the caller's
// variables.
func Run(stdout, stderr io.Writer, args []string, dir string, getenv func(string) string) int {
	if len(args) != 1 {
		return exit.Say(stderr, exit.Usage, "give one folder, such as results/primitives-20260102T030405Z; %s", command.See("primitives"))
	}
	folder := root.Absolute(args[0], dir)
	path, told := filepath.Join(folder, primitives.EvidenceName), filepath.Join(args[0], primitives.EvidenceName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return exit.Say(stderr, exit.Usage, "%s: no such file; name a folder of `make primitives`", told)
	}
	if problems := check.File("", path, told); len(problems) > 0 {
		for _, problem := range problems {
			fmt.Fprintln(stderr, problem)
		}
		return exit.Usage
	}
	set, record, err := made(folder, path)
	if err != nil {
		return exit.Say(stderr, exit.Setup, "%v", err)
	}
	page, err := report.Markdown(set, report.Options{})
	if err != nil {
		return exit.Say(stderr, exit.Setup, "%v", err)
	}
	_, _ = stdout.Write(page)
	for _, line := range streamed(set, record, folder, getenv) {
		fmt.Fprintln(stderr, line)
	}
	return set.ExitCode()
}

func made(folder, path string) (set report.Set, record run.Run, err error) {
	evidence, err := primitives.Read(path)
	if err == nil {
		record, err = primitives.Write(folder, filepath.Base(folder), evidence)
	}
	if err == nil {
		set, err = report.LoadRun(folder, &record)
	}
	if err == nil {
		err = report.Write(set, folder, report.Formats(), report.Options{})
	}
	return set, record, err
}

// streamed sends the result to InfluxDB if the variables ask for it. It returns errors and warnings as lines.
func streamed(set report.Set, record run.Run, folder string, getenv func(string) string) (trouble []string) {
	config, wanted, err := stream.Wanted(context.Background(), getenv)
	if err != nil {
		return []string{err.Error()}
	}
	if !wanted {
		return nil
	}
	tell := func(line string) { trouble = append(trouble, line) }
	out := stream.Open(config, tell, func(text string) string { return text })
	whole := stream.Of{TestID: record.ID, Profile: record.Profile}
	of := stream.Of{TestID: record.ID, Profile: record.Profile, System: primitives.System, Scenario: primitives.Scenario}
	out.Ended(of, record.Scenarios[0], folder, time.Since(record.Start))
	out.RunEnded(whole, set.Verdict())
	return append(trouble, out.Close(whole)...)
}
