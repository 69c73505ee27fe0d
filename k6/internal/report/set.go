// SPDX-License-Identifier: AGPL-3.0-only

// Package report makes Markdown, HTML and JUnit reports of results. It never measures.
package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Set is the content of a report: results, and the record of their run if there is one.
type Set struct {
	Run     *run.Run
	Results []result.Result
}

// Entry is one scenario of a set. Result is nil without a result. Reasons say why the outcome is not pass.
type Entry struct {
	Name    string
	Outcome string
	Cause   run.Cause // of a failed set-up
	Reasons []result.Reason
	Result  *result.Result
	// Disturbed has a sentence for each earlier measurement that the machine or the generator spoilt.
	Disturbed []string
	// Coordinator is the cost of coordinating several runners; nil with one runner.
	Coordinator *run.Coordinator
}

// Load reads a folder of a run, or one or more result files. The error names the file and the fix.
func Load(paths []string) (Set, error) {
	if len(paths) == 1 {
		if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
			return loadFolder(paths[0])
		}
	}
	var set Set
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return set, fmt.Errorf("%s: no such file or folder", path)
		}
		if info.IsDir() {
			return set, fmt.Errorf("%s: give one folder, or result files", path)
		}
		r, err := result.Read(path)
		if err != nil {
			return set, err
		}
		set.Results = append(set.Results, r)
	}
	return set, nil
}

func loadFolder(dir string) (Set, error) {
	record, err := run.Read(dir)
	switch {
	case err == nil:
		return LoadRun(dir, &record)
	case !errors.Is(err, os.ErrNotExist):
		return Set{}, fmt.Errorf("%s: %w", filepath.Join(dir, run.FileName), err)
	case isComparison(dir):
		return Set{}, fmt.Errorf("%s: is a comparison: read its compare.md, or give one of the folders pairNN-a, pairNN-b in it", dir)
	}
	return LoadRun(dir, nil)
}

// LoadRun reads the results in a folder, with a record that replaces the one in the folder: a full disk may have kept
// that one from being written. record may be nil. With an error, LoadRun also returns the readable
// results.
func LoadRun(dir string, record *run.Run) (Set, error) {
	set := Set{Run: record}
	names, err := fs.Glob(os.DirFS(dir), "*.json")
	if err != nil {
		return set, err
	}
	var malformed error
	for _, name := range names {
		if name == run.FileName {
			continue
		}
		r, err := result.Read(filepath.Join(dir, name))
		switch {
		case err == nil:
			set.Results = append(set.Results, r)
		case record != nil && set.replacesResult(name): // for a malformed result of this run
		case malformed == nil:
			malformed = err
		}
	}
	set.sort()
	if malformed == nil && len(set.Results) == 0 && record == nil {
		return set, fmt.Errorf("%s: no result in it; run `make bench` first", dir)
	}
	return set, malformed
}

// isComparison reports whether k6 x compare made a folder. Its runs are one level deeper, or two with several scenarios.
func isComparison(dir string) bool {
	for _, pattern := range []string{"compare.json", "*/compare.json"} {
		if found, _ := fs.Glob(os.DirFS(dir), pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// replacesResult reports whether the record has a message that replaces the result in file.
func (s Set) replacesResult(file string) bool {
	return slices.ContainsFunc(s.Run.Scenarios, func(e run.Scenario) bool {
		return e.System+"-"+e.Scenario+".json" == file && e.Message != "" && e.Result == ""
	})
}

// sort sorts the results in the order of the plan; others come last, by name.
func (s *Set) sort() {
	rank := func(r result.Result) int {
		if s.Run == nil {
			return 0
		}
		i := slices.IndexFunc(s.Run.Scenarios, func(e run.Scenario) bool { return e.Name() == r.Name() })
		if i < 0 {
			i = len(s.Run.Scenarios)
		}
		return i
	}
	slices.SortStableFunc(s.Results, func(a, b result.Result) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.Name(), b.Name())
	})
}

// Entries lists the scenarios: those of the plan in its order, then other results.
func (s Set) Entries() []Entry {
	var entries []Entry
	used := map[int]bool{}
	if s.Run != nil {
		for _, planned := range s.Run.Scenarios {
			i := slices.IndexFunc(s.Results, func(r result.Result) bool { return r.Name() == planned.Name() })
			var measured *result.Result
			if i >= 0 {
				used[i], measured = true, &s.Results[i]
			}
			entries = append(entries, entry(planned, measured))
		}
	}
	for i := range s.Results {
		if !used[i] {
			r := &s.Results[i]
			entries = append(entries, Entry{Name: r.Name(), Outcome: r.Verdict, Reasons: r.Reasons, Result: r})
		}
	}
	return entries
}

// entry combines the record and the result (nil without one) of a scenario.
func entry(planned run.Scenario, measured *result.Result) Entry {
	e := Entry{Name: planned.Name(), Outcome: planned.Outcome, Cause: planned.Cause, Result: measured, Disturbed: planned.Disturbed, Coordinator: planned.Coordinator}
	if planned.Message != "" {
		e.addReason(planned.Message)
	}
	if measured != nil {
		e.Outcome = judge.Outcome(planned.Outcome, measured.Verdict)
		if planned.Outcome != run.SetupFailed { // figures that do not involve the system are no evidence about it
			e.Reasons = append(e.Reasons, measured.Reasons...)
		}
		return e
	}
	if planned.Outcome == run.Fail && planned.Result == "" {
		return e // the system was killed for memory before anything was measured; the message says so
	}
	if planned.Outcome == run.Pass || planned.Outcome == run.Fail || planned.Outcome == run.Inconclusive {
		e.Outcome = run.Inconclusive
		e.addReason("its result file no longer exists")
	} else if len(e.Reasons) == 0 {
		e.addReason("there is no result: the run ended before this scenario did")
	}
	return e
}

func (e *Entry) addReason(text string) {
	e.Reasons = append(e.Reasons, result.Reason{Role: result.Cause, Text: text, Count: 1})
}

func (s Set) outcomes() []string {
	return seq.Map(s.Entries(), func(e Entry) string { return e.Outcome })
}

// ExitCode is the exit code of the whole set.
func (s Set) ExitCode() int {
	if s.Run == nil {
		return judge.ExitCode(s.outcomes(), nil)
	}
	return judge.ExitCode(s.outcomes(), s.Run.ExitCode)
}

// LeftOut reports whether all scenarios were left out, so that nothing was measured.
func (s Set) LeftOut() bool { return judge.AllLeftOut(s.outcomes()) }

// Verdict is the word for the exit code, or a word for a set without measurements.
func (s Set) Verdict() string {
	if s.LeftOut() {
		return run.LeftOut
	}
	return exit.Verdict(s.ExitCode())
}
