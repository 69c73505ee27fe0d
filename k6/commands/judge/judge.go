// SPDX-License-Identifier: AGPL-3.0-only

// Package judge is `k6 x judge`: it makes a result of a record again.
package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.k6.io/k6/cmd/state"
	"go.k6.io/k6/subcommand"

	"windtunnel/k6/internal/command"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

func init() {
	subcommand.RegisterExtension("judge", New)
}

// New returns the command.
func New(gs *state.GlobalState) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "judge RECORD",
		Short: "Judge a run's record again, and end with its verdict",
		Long: `Reads results/RUN/SYSTEM-SCENARIO.record, which has every sample of a run and what was seen beside
them, and prints what it comes to. docs/record.md describes the file.

` + exitcode.Help,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as its file has it")
	return command.Finish(gs, cmd, func(dir string, args []string) int {
		return Run(gs.Stdout, gs.Stderr, args, asJSON, dir)
	})
}

// Run judges the record and returns the exit code of its verdict; dir is the current folder.
func Run(stdout, stderr io.Writer, paths []string, asJSON bool, dir string) int {
	if len(paths) != 1 {
		fmt.Fprintln(stderr, "give one record, such as results/latest/pulsar-ingest.record; see k6 x judge --help")
		return exitcode.Usage
	}
	path := paths[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	found, err := judged(path)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", paths[0], err)
		return exitcode.Usage
	}
	if !asJSON {
		fmt.Fprintln(stdout, found.Text())
		return codes[found.Verdict]
	}
	text, err := found.File()
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", paths[0], err)
		return exitcode.Usage
	}
	_, _ = stdout.Write(text)
	return codes[found.Verdict]
}

var codes = map[string]int{result.Pass: exitcode.Pass, result.Fail: exitcode.Fail, result.Inconclusive: exitcode.Inconclusive}

func judged(path string) (found judge.Judged, err error) {
	file, err := os.Open(path)
	if err != nil {
		return found, errors.Unwrap(err)
	}
	defer file.Close()
	kept, said, err := record.Read(file)
	if err != nil {
		return found, err
	}
	var evidence judge.Evidence
	if err := json.Unmarshal(said, &evidence); err != nil {
		return found, fmt.Errorf("its evidence cannot be read: %w", err)
	}
	return judge.Judge(evidence, kept)
}
