// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

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

//go:embed page.html.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"class":  stateClass,
	"charts": charts,
	"spoken": spoken,
	"long":   func(text string) bool { return utf8.RuneCountInString(text) > longest/2 },
	"anchor": anchor,
	"parts":  func(name string) []string { return strings.SplitAfter(name, "/") },
}).Parse(pageTemplate))

// WithTables is the template of another page of Windtunnel, which can use the template "table" and the functions of this page.
func WithTables(name, text string) *template.Template {
	return template.Must(template.Must(page.Clone()).New(name).Parse(text))
}

// HTML writes the report as one self-contained file.
func HTML(set Set, options Options) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Page
		Style template.CSS
		Cards []card
	}{build(set, options), template.CSS(pageStyle), cards(set)})
	return b.Bytes(), err
}

// stateClass is the CSS class of a verdict or a tick.
func stateClass(state string) string {
	switch state {
	case "pass", tickOK:
		return "pass"
	case "fail", "set-up failed", tickBad:
		return "fail"
	case "":
		return ""
	}
	return "doubt"
}

// spoken is a screen reader's text for a tick.
func spoken(state string) string {
	switch state {
	case tickOK:
		return "holds"
	case tickBad:
		return "does not hold"
	case tickUnknown:
		return "unknown"
	}
	return state
}
