// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"windtunnel/k6/internal/exit"
)

// Apache Otava is a program that finds change points in CSV files: https://otava.apache.org.

const (
	// mostP is the largest p-value of a change. Otava's default 0.001 flags 1 of 10 flat series of 60 points.
	mostP = "0.0001"
	// fewestPoints is the smallest number of points of a series for Otava.
	fewestPoints = 8
)

// Detect finds the changes of all series with Otava, given its path, and explains them. A series with too few points, or
// a constant one, has no changes.
func Detect(otava string, groups []Group) error {
	dir, err := os.MkdirTemp("", "windtunnel-trend-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tests := map[string]*Series{}
	var names []string
	var config strings.Builder
	config.WriteString("tests:\n")
	for g := range groups {
		for i := range groups[g].Series {
			s := &groups[g].Series[i]
			if len(s.Values) < fewestPoints || slices.Min(s.Values) == slices.Max(s.Values) {
				continue
			}
			name := fmt.Sprintf("series%d", len(names))
			file := filepath.Join(dir, name+".csv")
			if err := writeCSV(file, groups[g], *s); err != nil {
				return err
			}
			fmt.Fprintf(&config, "  %s:\n    type: csv\n    file: %q\n    time_column: time\n    attributes: [run]\n    metrics:\n      value:\n        column: value\n        direction: %d\n        scale: 1\n",
				name, file, map[bool]int{true: 1, false: -1}[s.Figure.Higher()])
			tests[name], names = s, append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	path := filepath.Join(dir, "otava.yaml")
	if err := os.WriteFile(path, []byte(config.String()), 0o644); err != nil {
		return err
	}
	// "-P, --p-value" is one word: the option's name as Otava 0.8.0 declares it.
	cmd := exec.Command(otava, append([]string{"analyze", "--since", "1970-01-02", "-P, --p-value", mostP, "--output", "json"}, names...)...)
	// Otava also reads settings from variables: it gets none of the caller's.
	cmd.Env = []string{"OTAVA_CONFIG=" + path, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TZ=UTC"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("otava: %w: %s", err, exit.LastLine(stderr.String()))
	}
	if err := take(&stdout, tests); err != nil {
		return err
	}
	for _, s := range tests {
		s.explain()
	}
	return nil
}

func writeCSV(path string, g Group, s Series) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"time", "run", "value"})
	for i, value := range s.Values {
		p := g.Points[s.At[i]]
		_ = w.Write([]string{strconv.FormatInt(p.Start.Unix(), 10), strconv.Itoa(i), strconv.FormatFloat(value, 'g', -1, 64)})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// found is Otava's answer for a test: the changes by time. Otava rounds means to six decimals, so this package computes
// its own means.
type found map[string][]struct {
	Changes []struct {
		Index int    `json:"index"`
		P     string `json:"pvalue"`
	} `json:"changes"`
}

// take reads Otava's output, one object for each test.
func take(output io.Reader, tests map[string]*Series) error {
	decoder := json.NewDecoder(output)
	for {
		var all found
		err := decoder.Decode(&all)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("otava: its output is not in the format of version 0.8.0: %w", err)
		}
		for name, times := range all {
			s := tests[name]
			if s == nil {
				return fmt.Errorf("otava: its output has the unknown test %q", name)
			}
			for _, at := range times {
				for _, c := range at.Changes {
					p, err := strconv.ParseFloat(c.P, 64)
					if err != nil || c.Index < 1 || c.Index >= len(s.Values) {
						return fmt.Errorf("otava: a change of %s at %d with p %q is not possible", name, c.Index, c.P)
					}
					s.Changes = append(s.Changes, Change{Index: c.Index, P: p})
				}
			}
		}
	}
}
