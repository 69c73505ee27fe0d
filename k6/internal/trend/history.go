// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/seq"
)

// Extension is the extension of a history's file: JSON lines that are only appended.
const Extension = ".jsonl"

// ErrWrite means that a history could not be opened or written.
var ErrWrite = errors.New("cannot write the history")

func notWritten(err error) error { return fmt.Errorf("%w: %w", ErrWrite, exit.Reason(err)) }

// History is the points of one class of machine, in order of time.
type History struct {
	File   string
	Class  machine.Class
	Points []Point
}

// mostLine is the largest size of a history's line, in bytes.
const mostLine = 16 << 20

// Read reads a history. The error is one line that names the file and the line.
func Read(path string) (History, error) {
	h := History{File: path}
	file, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, mostLine)
	for number := 1; lines.Scan(); number++ {
		var p Point
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil || p.Schema != Schema {
			return h, fmt.Errorf("%s: line %d is no point of a history: it must be JSON with the schema %s", filepath.Base(path), number, Schema)
		}
		if len(h.Points) == 0 {
			h.Class = p.Class
		}
		// Older histories may have an unknown class, which is now rejected; they stay readable.
		if differ := h.Class.Differences(p.Class); h.Class != p.Class {
			return h, fmt.Errorf("%s: line %d is of another class of machine than line 1: they differ in %s", filepath.Base(path), number, strings.Join(differ, ", "))
		}
		h.Points = append(h.Points, p)
	}
	if err := lines.Err(); err != nil {
		return h, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	slices.SortStableFunc(h.Points, func(a, b Point) int { return a.Start.Compare(b.Start) })
	return h, nil
}

// has reports whether the history has a point of the same run and scenario.
func (h History) has(p Point) bool {
	return slices.ContainsFunc(h.Points, func(own Point) bool {
		return own.Run == p.Run && own.group() == p.group() && own.Start.Equal(p.Start)
	})
}

// Add adds points to the histories in a folder, which has a file for each class, or to one file, whose class must match.
// It skips existing points, and returns the number of added ones. A rejection is one line; then nothing is added.
func Add(place string, points []Point) (added int, err error) {
	file := func(p Point) string {
		if isFile(place) {
			return place
		}
		return filepath.Join(place, p.Class.Key()+Extension)
	}
	for _, own := range seq.Group(points, file) {
		n, err := appendTo(file(own[0]), own)
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}

func isFile(place string) bool { return filepath.Ext(place) == Extension }

// appendTo adds points to a file in one write, under a lock.
func appendTo(path string, points []Point) (added int, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, notWritten(err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return 0, notWritten(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return 0, notWritten(err)
	}
	h, err := Read(path)
	if err != nil {
		return 0, err
	}
	if len(h.Points) == 0 {
		h.Class = points[0].Class
	}
	var lines bytes.Buffer
	for _, p := range points {
		if differ := h.Class.Differences(p.Class); len(differ) > 0 {
			return 0, fmt.Errorf("the run %s is of another class of machine than the history %s: they differ in %s", p.Run, filepath.Base(path), strings.Join(differ, ", "))
		}
		if h.has(p) {
			continue
		}
		line, err := json.Marshal(p)
		if err != nil {
			return 0, err
		}
		lines.Write(append(line, '\n'))
		h.Points = append(h.Points, p)
		added++
	}
	if _, err := file.Write(lines.Bytes()); err != nil {
		return 0, notWritten(err)
	}
	return added, nil
}

// Histories reads the histories of a folder, in the order of their file names, or one file. The error is one line.
func Histories(place string) ([]History, error) {
	paths := []string{place}
	if !isFile(place) {
		paths = listing.In(place, "*"+Extension)
	}
	var all []History
	for _, path := range paths {
		h, err := Read(path)
		if err != nil {
			return nil, err
		}
		if len(h.Points) > 0 {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no point in %s: give runs to add, such as results/latest", place)
	}
	return all, nil
}
