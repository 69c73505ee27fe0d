// SPDX-License-Identifier: AGPL-3.0-only

package baseline

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// Keeping says which runs to keep, and where. All paths are absolute.
type Keeping struct {
	Name string
	// Runs are the folders of runs; To is the folder of baselines.
	Runs []string
	To   string
	// Records also stores the records of all samples.
	Records bool
	Beds    func(name string) testbed.Testbed
}

// Refused is an error that the user can fix; any other error of Keep is about the disk.
type Refused struct{ line string }

func (r Refused) Error() string { return r.line }

func refused(format string, args ...any) error { return Refused{fmt.Sprintf(format, args...)} }

// Keep adds the runs to the baseline with that name; it makes the baseline if needed. It copies the results, run.json
// and the reports of each run unchanged, because they contain no secrets. It copies no logs. It returns the folder, and
// one line for each result that judgements will not use. If one of the runs cannot be kept, Keep keeps nothing.
func Keep(k Keeping) (folder string, left []string, err error) {
	if !namePattern.MatchString(k.Name) {
		return "", nil, refused("NAME %q: give letters, digits, dots, dashes and underscores", k.Name)
	}
	folder = filepath.Join(k.To, k.Name)
	old, err := Find("", folder)
	if err == nil && old.Runs[0] == folder {
		return "", nil, refused("the baseline %s is a single run that was copied by hand: choose another NAME", k.Name)
	}
	targets := map[string]string{}
	for _, path := range k.Runs {
		id, err := idOf(path)
		if err != nil {
			return "", nil, err
		}
		target := filepath.Join(folder, id)
		if _, err := os.Stat(target); err == nil || slices.Contains(slices.Collect(maps.Values(targets)), target) {
			return "", nil, refused("the run %s is in the baseline %s already", id, k.Name)
		}
		targets[path] = target
	}
	if left, err = fit(append(slices.Clone(old.Runs), k.Runs...), k.Beds); err != nil {
		return "", nil, err
	}
	for _, path := range k.Runs {
		if err := copyRun(path, targets[path], k.Records); err != nil {
			return "", nil, err
		}
	}
	return folder, left, nil
}

// idOf returns the folder name of a run in a baseline.
func idOf(path string) (string, error) {
	r, err := run.Read(path)
	switch {
	case err != nil:
		return "", refused("%s is no folder of a run: give one that `make bench` made, such as results/latest", path)
	case r.End == nil:
		return "", refused("%s has not ended: keep it once it has", path)
	}
	return strings.ReplaceAll(r.ID, "/", "-"), nil
}

// fit checks that all runs of each scenario measured the same thing, and returns the results that judgements will not
// use.
func fit(runs []string, beds func(string) testbed.Testbed) (left []string, err error) {
	var all []compare.Measured
	for _, path := range runs {
		set, err := report.Load([]string{path})
		if err != nil {
			return nil, refused("%v", err)
		}
		used := 0
		for _, e := range set.Entries() {
			measured, err := compare.Load([]string{path}, e.Name)
			if err != nil {
				return nil, refused("%v", err)
			}
			if why := compare.Unusable(measured[0]); why != "" {
				left = append(left, fmt.Sprintf("%s of %s will not be used: %s", e.Name, filepath.Base(path), why))
				continue
			}
			used++
			all = append(all, measured[0])
		}
		if used == 0 {
			return nil, refused("%s has no result that can be used: %s", path, strings.Join(left, "; "))
		}
	}
	for _, same := range seq.Group(all, func(m compare.Measured) string { return m.Scenario }) {
		if why := compare.OneThing(same, beds); why != "" {
			return nil, refused("%s: %s", same[0].Scenario, why)
		}
	}
	return left, nil
}

// copyRun copies the files of a run. The target appears only when it is complete.
func copyRun(from, to string, records bool) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(to), ".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := os.Chmod(part, 0o755); err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isKept(entry.Name(), records) {
			continue
		}
		if err := copyFile(filepath.Join(from, entry.Name()), filepath.Join(part, entry.Name())); err != nil {
			return err
		}
	}
	return os.Rename(part, to)
}

func isKept(name string, records bool) bool {
	extension := filepath.Ext(name)
	return !strings.HasPrefix(name, ".") &&
		(slices.Contains([]string{".json", ".md"}, extension) || records && extension == record.Extension)
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closeErr := target.Close(); err == nil {
		err = closeErr
	}
	return err
}
