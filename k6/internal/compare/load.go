// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Load reads one side's runs of a scenario, SYSTEM/NAME, from folders of runs and result files. With scenario "", they
// must have only one scenario. The error is one line.
func Load(paths []string, scenario string) ([]Measured, error) {
	var all []Measured
	var found []string
	for _, path := range paths {
		set, err := report.Load([]string{path})
		if err != nil {
			return nil, err
		}
		for _, e := range set.Entries() {
			if !slices.Contains(found, e.Name) {
				found = append(found, e.Name)
			}
			if scenario == "" || e.Name == scenario {
				all = append(all, Measured{Scenario: e.Name, File: path, Outcome: e.Outcome, Cause: e.Cause, Reasons: result.Texts(e.Reasons),
					Streamed: streamed(path), Result: e.Result})
			}
		}
	}
	switch {
	case scenario == "" && len(found) > 1:
		return nil, fmt.Errorf("%s hold several scenarios: give --scenario, one or more of %s", strings.Join(paths, ", "), strings.Join(found, ", "))
	case len(all) == 0:
		return nil, fmt.Errorf("%s: no run of %s; there are: %s%s", strings.Join(paths, ", "), scenario, strings.Join(found, ", "),
			closest.Hint(scenario, found))
	}
	return all, nil
}

// streamed reads from a run's record whether it was streamed. The record is in the run's folder or beside the result
// file. It returns nil without a record.
func streamed(path string) *bool {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	record, err := run.Read(path)
	if err != nil {
		return nil
	}
	return &record.Streamed
}

// pairFolder matches the folder names of a comparison's runs.
var pairFolder = regexp.MustCompile(`^pair(\d+)-[ab]$`)

// PairByFolder pairs the runs of a comparison by the names of their folders, so that a missing run is noticed.
func PairByFolder(a, b []Measured) {
	for _, runs := range [][]Measured{a, b} {
		for i := range runs {
			if name := pairFolder.FindStringSubmatch(filepath.Base(runs[i].File)); name != nil {
				runs[i].Pair, _ = strconv.Atoi(name[1])
			}
		}
	}
}

// Pair pairs the runs of two sides in the order in which they ran, if both sides have the same number of runs.
func Pair(a, b []Measured) {
	if len(a) != len(b) {
		return
	}
	for _, runs := range [][]Measured{a, b} {
		slices.SortStableFunc(runs, func(x, y Measured) int { return start(x).Compare(start(y)) })
		for i := range runs {
			runs[i].Pair = i + 1
		}
	}
}

func start(m Measured) time.Time {
	if m.Result == nil {
		return time.Time{}
	}
	return m.Result.Run.Start
}

// OfComparison returns the folders of a comparison's runs, pairNN-a and pairNN-b, in order; nil if dir is no folder of a
// comparison.
func OfComparison(dir string) (a, b []string) {
	a, b = listing.In(dir, "pair*-a"), listing.In(dir, "pair*-b")
	isFile := func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	}
	return slices.DeleteFunc(a, isFile), slices.DeleteFunc(b, isFile)
}

// OfSet returns the folders of comparisons in dir, in the order in which they began; nil if dir is no folder of a set.
func OfSet(dir string) []string {
	entries, _ := os.ReadDir(dir)
	type part struct {
		path  string
		begun time.Time
	}
	var parts []part
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		a, b := OfComparison(path)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		p := part{path: path}
		if record, err := run.Read(a[0]); err == nil {
			p.begun = record.Start
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(x, y part) int { return x.begun.Compare(y.begun) })
	return seq.Map(parts, func(p part) string { return p.path })
}

// TakeSides copies the descriptions of the sides from the record of the comparison in dir, if it has one: runs do not
// have them.
func (q *Request) TakeSides(dir string) {
	c, err := read(filepath.Join(dir, FileName))
	if err != nil {
		return
	}
	q.SpecA, q.BuildA, q.ContentsA = c.A.Spec, c.A.Build, c.A.Contents
	q.SpecB, q.BuildB, q.ContentsB = c.B.Spec, c.B.Build, c.B.Contents
	q.Made = max(len(c.A.Runs), len(c.B.Runs))
}

// LooksOf returns how many looks the comparison in dir took at its pairs: judging again with another gate spends the
// same error probability. Without a record, it assumes the largest number of looks at this number of pairs.
func LooksOf(dir string, pairs int) int {
	c, err := read(filepath.Join(dir, FileName))
	if err != nil {
		return difference.Looked(pairs)
	}
	return c.Looks
}

// ReadAll reads the comparisons in a folder: a single one in the folder, or one in each subfolder. There may be none;
// the error names the file.
func ReadAll(dir string) (all []Comparison, err error) {
	paths := listing.In(dir, FileName)
	if len(paths) == 0 {
		paths = listing.In(dir, "*/"+FileName)
	}
	for _, path := range paths {
		c, err := read(path)
		if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
			return nil, err
		}
		if err != nil || c.Schema != Schema {
			return nil, fmt.Errorf("%s: is no comparison of this version (%s)", path, Schema)
		}
		all = append(all, c)
	}
	return all, nil
}

func read(path string) (c Comparison, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, err
}

// Write writes compare.json, compare.md and compare.html into dir.
func (c Comparison) Write(dir string) error {
	if err := run.WriteJSON(filepath.Join(dir, FileName), c); err != nil {
		return err
	}
	return writePages(dir, c.Markdown(), Set{[]Part{{Comparison: c}}})
}
