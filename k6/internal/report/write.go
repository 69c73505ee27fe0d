// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Options change a report. Reference adds the published figures beside the measured ones.
type Options struct {
	Reference bool
}

type writer struct {
	name string // of the format
	file string
	make func(Set, Options) ([]byte, error)
}

var writers = []writer{
	{"md", "report.md", Markdown},
	{"html", "report.html", HTML},
	{"junit", "report.xml", JUnit},
}

// Formats lists the names of the formats.
func Formats() []string {
	return seq.Map(writers, func(w writer) string { return w.name })
}

// ParseFormats splits a comma-separated list of formats; an unknown one is an error.
func ParseFormats(list string) ([]string, error) {
	var formats []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(Formats(), name) {
			return nil, fmt.Errorf("unknown format %q%s; there are: %s", name,
				closest.Hint(name, Formats()), strings.Join(Formats(), ", "))
		}
		formats = append(formats, name)
	}
	return formats, nil
}

// Write writes the report in the formats into dir.
func Write(set Set, dir string, formats []string, options Options) error {
	for _, w := range writers {
		if !slices.Contains(formats, w.name) {
			continue
		}
		data, err := w.make(set, options)
		if err != nil {
			return fmt.Errorf("%s: %w", w.file, err)
		}
		if err := run.WriteFile(filepath.Join(dir, w.file), data); err != nil {
			return err
		}
	}
	return nil
}
