// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/run"
)

// Set is the comparisons of several scenarios of the same two sides.
type Set struct{ Parts []Part }

// Part is one of a set's comparisons and the folder of its files below the set's own.
type Part struct {
	Folder string
	Comparison
}

// MakeSet compares runs of several scenarios, none of which Refusal refuses.
func MakeSet(all []Request) Set {
	var s Set
	for _, q := range all {
		s.Parts = append(s.Parts, Part{q.Folder, Make(q)})
	}
	return s
}

// ExitCode is the worst of the comparisons'.
func (s Set) ExitCode() int {
	var codes []int
	for _, p := range s.Parts {
		codes = append(codes, p.ExitCode())
	}
	return exitcode.Worst(codes...)
}

// Write writes each comparison into its folder below dir, and one page of all into dir.
func (s Set) Write(dir string) error {
	for _, p := range s.Parts {
		folder := filepath.Join(dir, p.Folder)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := p.Comparison.Write(folder); err != nil {
			return err
		}
	}
	return run.WriteFile(filepath.Join(dir, PageName), []byte(s.Markdown()))
}

// Markdown is the page: what Summary says, then the details of each scenario.
func (s Set) Markdown() string {
	var b strings.Builder
	b.WriteString(s.Summary() + "\n")
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "## %s\n\n", markdown.Escape(p.name()))
		p.write(&b, "###")
		if notes := p.notes(); len(notes) > 0 {
			b.WriteString("### Notes\n\n")
			markdown.List(&b, notes)
		}
		p.writeSame(&b, "###")
	}
	b.WriteString("## How to read this\n\n")
	markdown.List(&b, s.legend())
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Summary is the verdict, the reference document's table of changes, a line for each scenario and the reasons.
func (s Set) Summary() string {
	var b strings.Builder
	var names, reasons []string
	var scenarios [][]string
	passed := 0
	for _, p := range s.Parts {
		names = append(names, p.name())
		for _, reason := range p.Reasons {
			reasons = append(reasons, p.name()+": "+reason)
		}
		if p.ExitCode() == exitcode.Pass {
			passed++
		}
		scenarios = append(scenarios, []string{p.name(), mark(p.word()), cmp.Or(p.counts(), nothing), p.Folder})
	}
	fmt.Fprintf(&b, "# B against A: %s\n\n", markdown.Escape(strings.Join(names, ", ")))
	fmt.Fprintf(&b, "**Verdict: %s** — %d of %d scenarios pass\n\n", mark(exitcode.Verdict(s.ExitCode())), passed, len(s.Parts))
	head := []string{"Metric", "Baseline (" + s.label("A") + ")", "Candidate (" + s.label("B") + ")", "Improvement", "95 % CI", "p", "judgement"}
	markdown.Table(&b, head, s.changes(), lastIsText)
	markdown.Table(&b, []string{"Scenario", "Verdict", "Metrics", "Folder"}, scenarios, noNumbers)
	markdown.List(&b, reasons)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// combined are the metrics of the reference document's table, and what it calls them.
var combined = []struct{ name, title, as string }{
	{"rate_per_s", "rate", "RPS"},
	{"mbit_per_s", "throughput", "Mbit/s"},
	{"avg", "avg", "avg latency"},
	{"p95", "P95", "P95 latency"},
	{"success", "success", "success rate"},
}

// changes has a row for each of these metrics of each operation, the operations of a metric one below the
// other. Operations of one title are told apart by their scenario.
func (s Set) changes() [][]string {
	var rows [][]string
	for _, kind := range combined {
		var titles []string
		for _, p := range s.Parts {
			for _, m := range p.Metrics {
				if m.Name == kind.name {
					titles = append(titles, m.Title)
				}
			}
		}
		for _, p := range s.Parts {
			for _, m := range p.Metrics {
				if m.Name != kind.name || m.Control || m.evidence || m.Operation == "" {
					continue
				}
				title := strings.TrimSuffix(m.Title, kind.title) + kind.as
				if first := slices.Index(titles, m.Title); slices.Contains(titles[first+1:], m.Title) {
					title = p.Scenario + ": " + title
				}
				rows = append(rows, append([]string{title, m.plain(m.A), m.plain(m.B)}, m.difference()...))
			}
		}
	}
	return rows
}

// plain is a median with its unit, where the metric's name does not tell it.
func (m Metric) plain(s Summary) string {
	if m.Unit == "ms" {
		return write(s.Median, m.Unit) + " ms"
	}
	return write(s.Median, m.Unit)
}

// label is what a side was: the testbed as it was given; else its name, and its variables that are others
// on the other side; else the side's letter.
func (s Set) label(side string) string {
	for _, p := range s.Parts {
		own, other := p.A, p.B
		if side == "B" {
			own, other = p.B, p.A
		}
		switch {
		case own.Spec != "":
			return own.Spec
		case own.Testbed != nil && other.Testbed != nil && own.Testbed.Name == other.Testbed.Name:
			differ := map[string]any{}
			for name, v := range own.Testbed.Variables {
				if other.Testbed.Variables[name] != v {
					differ[name] = v
				}
			}
			if len(differ) == 0 {
				return own.Testbed.Name
			}
			return own.Testbed.Name + ":" + strings.ReplaceAll(list(differ), ", ", ",")
		case own.Testbed != nil:
			return own.Testbed.Name
		}
	}
	return side
}

// legend says how the numbers are made.
func (s Set) legend() []string {
	lines := []string{"Improvement: the change from the baseline to the candidate: of a rate, more is better, of a latency, less; " +
		"a success rate changes in percentage points"}
	for _, p := range s.Parts {
		for _, line := range p.legend() {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
