// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/lists"
)

// faults are the faults in an entry's form.
func (v Variable) faults() (faults []string) {
	is := func(units ...Unit) bool { return slices.Contains(units, v.Unit) }
	number := slices.Contains(numbers, v.Unit)
	for fault, has := range map[string]bool{
		"no text of its own":                      v.What == "" || strings.HasSuffix(v.What, "."),
		"no such unit":                            !number && !is(Duration, Choice, List, Flag, Text, Path, URL, SecretValue),
		"nobody reads it":                         len(v.Of) == 0,
		"choices that are none":                   (v.Choices != nil) != (is(Choice) || is(List) && v.Most == nil && v.Choices != nil),
		"a number has a most":                     (number || is(Duration)) && v.Most == nil,
		"a number has either least or above":      number && (v.Least == nil) == (v.Above == nil),
		"bounds of what is no number":             !number && (v.Above != nil || v.Fraction || (v.Least != nil) != (is(List) && v.Most != nil) || v.Most != nil && !is(List, Duration)),
		"above is of fractions":                   v.Above != nil && !v.Fraction,
		"least is beyond most":                    v.Least != nil && v.Most != nil && *v.Least > *v.Most,
		"a default that depends on what is known": slices.ContainsFunc(v.DefaultBy, func(by string) bool { return !slices.Contains(defaultBy, by) }),
		"a default and what it depends on":        v.Default != nil && len(v.DefaultBy) > 0 && !severalDefaults(v),
		"a secret has no default":                 is(SecretValue, Flag) && v.Default != nil,
		"no page of docs":                         v.Docs != "" && !isPage(v.Docs),
	} {
		if has {
			faults = append(faults, fault)
		}
	}
	for _, of := range v.Of {
		if of != "*" && of != "make" && !isThere("scripts/"+of) && !isThere("scripts/"+of+".js") {
			faults = append(faults, of+" is not there")
		}
	}
	return append(faults, v.faultsOfDefaults()...)
}

var defaultBy = []string{"profile", "scenario", "environment", "testbed", "row", "baseline", "target"}

func severalDefaults(v Variable) bool {
	_, several := v.Default.(map[string]any)
	return several
}

// faultsOfDefaults reports defaults that are out of bounds, and scenarios without a default.
func (v Variable) faultsOfDefaults() (faults []string) {
	check := func(value any) {
		_, number := value.(float64)
		switch {
		case number != slices.Contains(numbers, v.Unit):
			faults = append(faults, fmt.Sprintf("default %v is of another type", value))
		case v.Wrong(fmt.Sprint(value)) != "":
			faults = append(faults, fmt.Sprintf("default %v: %s", value, v.Wrong(fmt.Sprint(value))))
		}
	}
	byScenario, several := v.Default.(map[string]any)
	if !several {
		if v.Default != nil {
			check(v.Default)
		}
		return faults
	}
	for of, value := range byScenario {
		check(value)
		if !slices.Contains(v.Of, of) {
			faults = append(faults, "a default for "+of+", which does not read it")
		}
	}
	for _, scenario := range Scenarios() {
		if v.readBy(scenario) && v.defaultOf(scenario) == nil && len(v.DefaultBy) == 0 {
			faults = append(faults, "no default for "+scenario)
		}
	}
	return faults
}

func root(name string) string { return filepath.Join("../../..", name) }

func isThere(name string) bool {
	_, err := os.Stat(root(name))
	return err == nil
}

// isPage reports whether docs/ has the page, with the heading.
func isPage(link string) bool {
	page, anchor, _ := strings.Cut(link, "#")
	text, err := os.ReadFile(root("docs/" + page))
	if err != nil || anchor == "" {
		return err == nil
	}
	for line := range strings.Lines(string(text)) {
		heading, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if line[0] == '#' && is && slug.Replace(strings.ToLower(strings.TrimSpace(heading))) == anchor {
			return true
		}
	}
	return false
}

// slug makes the anchor of a heading, as far as our headings need it.
var slug = strings.NewReplacer(" ", "-", ",", "")

func TestRegistryHasItsForm(t *testing.T) {
	texts := map[string]string{}
	for i, v := range All {
		for _, fault := range v.faults() {
			t.Errorf("%s: %s", v.Name, fault)
		}
		if i > 0 && All[i-1].Name >= v.Name {
			t.Errorf("%s is not in its place", v.Name)
		}
		if other := texts[v.What]; other != "" {
			t.Errorf("%s and %s are told in the same words", v.Name, other)
		}
		if slices.Contains(others, v.Name) {
			t.Errorf("%s is ours", v.Name)
		}
		texts[v.What] = v.Name
	}
}

func TestFormIsHeld(t *testing.T) {
	for entry, fault := range map[string]string{
		`"what": "x", "unit": "count", "least": 1, "of": ["*"]`:                                                    "a number has a most",
		`"what": "x", "unit": "count", "most": 1, "of": ["*"]`:                                                     "a number has either least or above",
		`"what": "x", "unit": "apples", "of": ["*"]`:                                                               "no such unit",
		`"what": "", "unit": "text", "of": ["*"]`:                                                                  "no text of its own",
		`"what": "x", "unit": "text", "of": []`:                                                                    "nobody reads it",
		`"what": "x", "unit": "text", "of": ["pulsar/nothing"]`:                                                    "pulsar/nothing is not there",
		`"what": "x", "unit": "choice", "of": ["*"]`:                                                               "choices that are none",
		`"what": "x", "unit": "text", "choices": ["a"], "of": ["*"]`:                                               "choices that are none",
		`"what": "x", "unit": "text", "most": 3, "of": ["*"]`:                                                      "bounds of what is no number",
		`"what": "x", "unit": "count", "least": 1, "most": 9, "default": 10, "of": ["*"]`:                          "default 10: at most 9",
		`"what": "x", "unit": "choice", "choices": ["a"], "default": "b", "of": ["*"]`:                             "default b: choose one of a",
		`"what": "x", "unit": "count", "least": 1, "most": 9, "default": "1", "of": ["*"]`:                         "default 1 is of another type",
		`"what": "x", "unit": "text", "default": "b", "default_by": ["profile"], "of": ["*"]`:                      "a default and what it depends on",
		`"what": "x", "unit": "text", "default_by": ["weather"], "of": ["*"]`:                                      "a default that depends on what is known",
		`"what": "x", "unit": "text", "default": {"pulsar/ingest": "b"}, "of": ["pulsar/ingest", "pulsar/bulk"]`:   "no default for pulsar/bulk",
		`"what": "x", "unit": "text", "default": {"pulsar/ingest": "b", "panel": "c"}, "of": ["pulsar/ingest"]`:    "a default for panel, which does not read it",
		`"what": "x", "unit": "text", "docs": "numbers.md#no-such-heading", "of": ["*"]`:                           "no page of docs",
		`"what": "x", "unit": "count", "fraction": true, "least": 3, "above": 2, "most": 1, "of": ["dataplane/*"]`: "least is beyond most",
	} {
		v := read([]byte(`[{"name": "X", ` + entry + `}]`))[0]
		if got := v.faults(); !slices.Contains(got, fault) {
			t.Errorf("%s: %q", entry, got)
		}
	}
}

func TestUnknownKeyIsAFault(t *testing.T) {
	defer func() {
		if told := fmt.Sprint(recover()); !strings.Contains(told, "leest") {
			t.Error(told)
		}
	}()
	read([]byte(`[{"name": "X", "leest": 1}]`))
}

func TestPlacementsAreThoseOfEnvironments(t *testing.T) {
	if got := Find("PLACEMENT").Choices; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(environment.Placements()))) {
		t.Errorf("PLACEMENT: %q", got)
	}
}

func TestDefaultsOfTheHelpOfMakeAreThoseOfTheRegistry(t *testing.T) {
	text, err := os.ReadFile(root("setup/help"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PROFILE", "ENV"} {
		if word := "[" + name + "=" + Default(name) + "]"; !strings.Contains(string(text), word) {
			t.Errorf("no word %q", word)
		}
	}
}

func TestEachScenarioIsKnown(t *testing.T) {
	scripts, err := filepath.Glob(root("scripts/*/[a-z]*.js"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		name := filepath.Base(filepath.Dir(script)) + "/" + strings.TrimSuffix(filepath.Base(script), ".js")
		if !slices.Contains(Scenarios(), name) {
			t.Errorf("no variable names %s", name)
		}
	}
}

func TestEntryIsTheRegistrys(t *testing.T) {
	if got := Entry("CLIENTS"); !strings.Contains(string(lists.Variables), got) || !strings.HasPrefix(got, `{"name": "CLIENTS", `) {
		t.Error(got)
	}
	if got := Entry("CLEINTS"); got != "" {
		t.Error(got)
	}
}
