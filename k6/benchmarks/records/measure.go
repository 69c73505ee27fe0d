// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"windtunnel/k6/internal/format"
)

// measured is the cost of judging one run.
type measured struct {
	size
	spent
	bytes int64
}

func (m measured) total() int64 { return int64(m.runners) * int64(m.samples) }

func (m measured) row() string {
	return fmt.Sprintf("| %d | %s | %s | %s | %.1f | %s | %.1f | %s |", m.runners, format.Count(int64(m.samples)), format.Count(m.total()),
		format.MiB(m.bytes), m.seconds, format.Count(int64(float64(m.total())/m.seconds)), m.cpuS, format.MiB(m.peakBytes))
}

// measure makes the records, judges them in a separate process, and removes them.
func measure(k6, dir string, s size) (m measured, err error) {
	m.size = s
	folder, bytes, err := folderOf(dir, s)
	if err != nil {
		return m, err
	}
	m.bytes = bytes
	took, text, err := runWatched(exec.Command(k6, "x", "judge", "--json", folder))
	if err != nil {
		return m, err
	}
	m.spent = took
	if err := hasAll(text, m.total()); err != nil {
		return m, err
	}
	return m, os.RemoveAll(folder)
}

// hasAll checks that the result has every sample.
func hasAll(text []byte, samples int64) error {
	var found struct {
		Operations []struct{ Success int64 }
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return err
	}
	if len(found.Operations) != 1 || found.Operations[0].Success != samples {
		return fmt.Errorf("the result has %+v, and %d samples were made", found.Operations, samples)
	}
	return nil
}

// live runs a k6 that records the given number of samples, and returns the cost as a line.
func live(k6, dir string, samples int) (string, error) {
	file := filepath.Join(dir, "live.record")
	child := exec.Command(k6, "run", "--quiet", "../benchmarks/records/live.js")
	child.Env = append(os.Environ(), "K6_NO_USAGE_REPORT=true", "RECORD="+file, fmt.Sprint("SAMPLES=", samples))
	took, text, err := runWatched(child)
	if err != nil {
		return "", err
	}
	if err := hasAll(text, int64(samples)); err != nil {
		return "", err
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("A k6 process that recorded %s samples took %s MiB at its peak, %.0f s of CPU time, and wrote a record of %s MiB.",
		format.Count(int64(samples)), format.MiB(took.peakBytes), took.cpuS, format.MiB(info.Size())), nil
}
