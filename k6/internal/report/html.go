// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"
	"unicode/utf8"
)

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
