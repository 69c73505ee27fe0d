// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/operations"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Page is a report before formatting: texts and tables without escaping.
type Page struct {
	Title       string
	ID          string
	Verdict     string
	Headline    string
	Means       string // what a pass means
	Reasons     []Line
	More        string // about reasons that are only in the sections
	Summary     Table
	Sections    []Section
	Environment Table
}

// Section is one scenario. Result is nil without a result.
type Section struct {
	Entry  Entry
	Title  string
	Anchor string
	Facts  []string // one line each, such as times and target
	Tables []Table
	Notes  []string
	Result *result.Result
}

// Table is a titled table. Numbers says which columns hold numbers, nil for none. State is the column with a verdict or
// a tick, or -1. Finding, an important sentence, and Notes go below.
type Table struct {
	Title   string
	Head    []string
	Rows    [][]string
	Numbers func(column int) bool
	State   int
	Finding string
	Notes   []string
}

// Numeric reports whether a column holds numbers.
func (t Table) Numeric(column int) bool {
	return t.Numbers != nil && t.Numbers(column) && column != t.State
}

// Narrow reports whether the table is only as wide as its texts, because it has neither numbers nor a state.
func (t Table) Narrow() bool { return t.Numbers == nil && t.State < 0 }

func from(first int) func(int) bool { return between(first, math.MaxInt) }

func between(first, end int) func(int) bool {
	return func(column int) bool { return column >= first && column < end }
}

// The ticks of thresholds and checks.
const (
	tickOK      = "✓"
	tickBad     = "✗"
	tickUnknown = "?"
)

const passMeans = "Pass means: the scenario ran without errors and within its thresholds. Thresholds are wide unless the environment " +
	"sets others. To see whether something became faster or slower, run make compare."

func build(set Set, options Options) Page {
	entries := set.Entries()
	p := Page{Title: "Windtunnel report", Verdict: set.Verdict(), ID: runID(set), Means: passMeans}
	passed := 0
	for _, e := range entries {
		if e.Outcome == run.Pass {
			passed++
		}
		p.Sections = append(p.Sections, section(e, options))
	}
	var left int
	p.Reasons, left = Lines(entries)
	p.More = More(left)
	p.Headline = fmt.Sprintf("%d of %d scenarios passed", passed, len(entries))
	p.Environment = environmentTable(set)
	p.Summary = summaryTable(entries)
	return p
}

func runID(set Set) string {
	if set.Run != nil {
		return set.Run.ID
	}
	return distinct(seq.Map(set.Results, func(r result.Result) string { return r.Run.ID }))
}

func distinct(values []string) string {
	return cmp.Or(strings.Join(seq.Distinct(seq.Given(values)), "; "), format.None)
}

// environmentTable is the environment block of the reference documents.
func environmentTable(set Set) Table {
	each := func(of func(result.Result) string) string {
		return distinct(seq.Map(set.Results, of))
	}
	host := func(of func(result.Host) string) string {
		return each(func(r result.Result) string {
			if r.Run.Host == nil {
				return ""
			}
			return of(*r.Run.Host)
		})
	}
	t := Table{Head: []string{"Parameter", "Value"}, State: -1}
	add := func(name, value string) { t.Rows = append(t.Rows, []string{name, value}) }
	add("Run", runID(set))
	if set.Run != nil {
		add("Start", format.Time(set.Run.Start))
		add("Profile", set.Run.Profile)
		add("Environment", set.Run.Environment)
	} else {
		add("Start", each(func(r result.Result) string { return format.Time(r.Run.Start) }))
		add("Profile", each(func(r result.Result) string { return r.Run.Profile }))
		add("Environment", each(func(r result.Result) string { return r.Run.Environment }))
	}
	add("OS", host(func(h result.Host) string { return h.OS }))
	add("Kernel", host(func(h result.Host) string { return h.Kernel }))
	add("CPU", host(func(h result.Host) string { return h.CPUModel }))
	add("Cores", host(result.Host.Cores))
	add("RAM", host(result.Host.RAM))
	if settings := host(func(h result.Host) string { return h.Settings.Text() }); settings != format.None {
		add("Kernel settings", settings)
	}
	versions := map[string]bool{}
	for _, r := range set.Results {
		for name := range r.Run.Versions {
			versions[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		label := strings.ReplaceAll(name, "_", " ") + " version"
		if strings.HasSuffix(name, "_revision") {
			label = strings.ReplaceAll(name, "_", " ")
		}
		add(label, each(func(r result.Result) string { return r.Run.Versions[name] }))
	}
	if placed := each(func(r result.Result) string { return placement(r.Run.Placement) }); placed != format.None {
		add("Placement", placed)
	}
	if link := each(func(r result.Result) string { return r.Run.Link.Words() }); link != format.None {
		add("Link", link)
	}
	add("Target", targets(set))
	add("Testbed", each(func(r result.Result) string {
		if r.Run.Testbed == nil {
			return "none: the system was already up"
		}
		return r.Run.Testbed.Name + variables(r.Run.Testbed.Variables)
	}))
	return t
}

// targets joins the different targets. Targets that differ only in the port are written once: testbeds use a free port
// at each start.
func targets(set Set) string {
	var all, withoutPort []string
	for _, r := range set.Results {
		all = append(all, r.Run.Target)
		u, err := url.Parse(r.Run.Target)
		if err != nil {
			return distinct(all)
		}
		u.Host = u.Hostname()
		withoutPort = append(withoutPort, u.String())
	}
	if one := distinct(withoutPort); !strings.Contains(one, "; ") && strings.Contains(distinct(all), "; ") {
		return one + " (a port for each scenario)"
	}
	return distinct(all)
}

// variables writes a testbed's variables without ports, which change at each start.
func variables(values map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "port" || strings.HasSuffix(name, "_port") {
			continue
		}
		parts = append(parts, name+"="+format.Plain(values[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// summaryTable has a row for each operation of all scenarios; controls are in the scenarios' own tables.
func summaryTable(entries []Entry) Table {
	shown := operations.Usual
	if slices.ContainsFunc(entries, func(e Entry) bool { return e.Result != nil && e.Result.Transfers() }) {
		shown = append(slices.Clone(shown), operations.Mbit)
	}
	head := slices.Concat([]string{"Scenario", "Operation"}, operations.Heads(shown), []string{"Verdict"})
	t := Table{Head: head, Numbers: from(2), State: len(head) - 1}
	for _, e := range entries {
		if e.Result == nil || len(e.Result.Operations) == 0 {
			t.Rows = append(t.Rows, append(append([]string{e.Name}, dashes(len(t.Head)-2)...), e.Outcome))
			continue
		}
		for i, op := range e.Result.Judged() {
			row := append([]string{e.Name, op.Title}, operations.Row(shown, op)...)
			verdict := e.Outcome
			if i > 0 {
				row[0], verdict = "", ""
			}
			t.Rows = append(t.Rows, append(row, verdict))
		}
	}
	return t
}

func dashes(n int) []string { return slices.Repeat([]string{format.None}, n) }

// anchor is an HTML id for a scenario's name.
func anchor(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
}
