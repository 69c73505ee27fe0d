// SPDX-License-Identifier: AGPL-3.0-only

// Package baseline keeps runs, and judges a later run by them (docs/how-to/baselines.md).
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
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
)

// Baseline is a folder of kept runs.
type Baseline struct {
	Name   string
	Folder string
	Runs   []string // folders of the runs, by name
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Folder is the folder of baselines in a checkout.
func Folder(root string) string { return filepath.Join(root, "results", "baselines") }

// Find returns the baseline with that name in a checkout, or in the folder with that absolute path. The error is one
// line.
func Find(root, name string) (Baseline, error) {
	b := Baseline{Name: filepath.Base(name), Folder: name}
	if !filepath.IsAbs(name) {
		b.Folder = filepath.Join(Folder(root), name)
	}
	entries, err := os.ReadDir(b.Folder)
	if err != nil {
		there := listing.Folders(Folder(root))
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

// isRun reports whether a folder is the folder of a run.
func isRun(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, run.FileName))
	return err == nil && info.Mode().IsRegular()
}

// Scenarios returns the scenarios with a usable result in a kept run, as SYSTEM/NAME.
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

// of returns the usable kept runs of a scenario.
func (b Baseline) of(scenario string) ([]compare.Measured, error) {
	all, err := compare.Load(b.Runs, scenario)
	if err != nil {
		return nil, fmt.Errorf("the baseline %s: %w", b.Name, err)
	}
	return slices.DeleteFunc(all, func(m compare.Measured) bool { return compare.Unusable(m) != "" }), nil
}

// Count returns a phrase such as `6 kept runs`.
func (b Baseline) Count() string { return format.Plural(len(b.Runs), "kept run") }
