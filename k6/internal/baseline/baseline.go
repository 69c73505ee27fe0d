// SPDX-License-Identifier: AGPL-3.0-only

// Package baseline keeps runs, and judges a later run by them. docs/how-to/baselines.md says how.
package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
)

// Baseline is a folder of runs that were kept.
type Baseline struct {
	Name   string
	Folder string
	Runs   []string // their folders, by name
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Folder is where baselines are kept in a checkout.
func Folder(root string) string { return filepath.Join(root, "results", "baselines") }

// Find is the baseline of that name in a checkout, or in the folder of that absolute path. The error is one line.
func Find(root, name string) (Baseline, error) {
	b := Baseline{Name: filepath.Base(name), Folder: name}
	if !filepath.IsAbs(name) {
		b.Folder = filepath.Join(Folder(root), name)
	}
	entries, err := os.ReadDir(b.Folder)
	if err != nil {
		there := names(Folder(root))
		return b, fmt.Errorf("no baseline %s: give one of %s, or the absolute path of a folder that `make keep` made%s", name, strings.Join(there, ", "), closest.Hint(name, there))
	}
	if isRun(b.Folder) {
		b.Runs = []string{b.Folder}
		return b, nil
	}
	for _, entry := range entries {
		if folder := filepath.Join(b.Folder, entry.Name()); entry.IsDir() && isRun(folder) {
			b.Runs = append(b.Runs, folder)
		}
	}
	if len(b.Runs) == 0 {
		return b, fmt.Errorf("the baseline %s has no run in it: keep one by `make keep NAME=%s RUN=results/latest`", name, b.Name)
	}
	return b, nil
}

// names of the baselines that there are.
func names(folder string) []string {
	var all []string
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if entry.IsDir() {
			all = append(all, entry.Name())
		}
	}
	return all
}

// isRun reports whether a folder is that of a run.
func isRun(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, run.FileName))
	return err == nil && info.Mode().IsRegular()
}

// Scenarios are those of which a kept run has a result that can be used, as SYSTEM/NAME.
func (b Baseline) Scenarios() ([]string, error) {
	var all []string
	for _, folder := range b.Runs {
		set, err := report.Load([]string{folder})
		if err != nil {
			return nil, fmt.Errorf("the baseline %s: %w", b.Name, err)
		}
		for _, e := range set.Entries() {
			if e.Result != nil && !slices.Contains(all, e.Name) {
				all = append(all, e.Name)
			}
		}
	}
	return all, nil
}

// of are the kept runs of a scenario that can be used.
func (b Baseline) of(scenario string) ([]compare.Measured, error) {
	all, err := compare.Load(b.Runs, scenario)
	if err != nil {
		return nil, fmt.Errorf("the baseline %s: %w", b.Name, err)
	}
	return slices.DeleteFunc(all, func(m compare.Measured) bool { return compare.Unusable(m) != "" }), nil
}

// Count is such as `6 kept runs`.
func (b Baseline) Count() string {
	if len(b.Runs) == 1 {
		return "1 kept run"
	}
	return fmt.Sprintf("%d kept runs", len(b.Runs))
}
