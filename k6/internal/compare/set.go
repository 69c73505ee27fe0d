// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/markdown"
	"windtunnel/k6/internal/seq"
)

// Set is the comparisons of several scenarios of the same two sides.
type Set struct{ Parts []Part }

// Part is one comparison of a set, and the subfolder of its files.
type Part struct {
	Folder string
	Comparison
}

// MakeSet compares runs of several scenarios that Refusal accepts.
func MakeSet(all []Request) Set {
	return Set{seq.Map(all, func(q Request) Part { return Part{q.Folder, Make(q)} })}
}

// Comparisons returns the comparisons of all parts.
func (s Set) Comparisons() []Comparison {
	return seq.Map(s.Parts, func(p Part) Comparison { return p.Comparison })
}

// ExitCode is the worst exit code of the comparisons.
func (s Set) ExitCode() int {
	return exit.Worst(seq.Map(s.Parts, Part.ExitCode)...)
}

// Write writes each comparison into its subfolder of dir, and one page about all into dir.
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
	return writePages(dir, s.Markdown(), s)
}

// Markdown is the page: the verdict, the reference document's table of changes with a line for each scenario, then the
// details of each scenario.
func (s Set) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# B against A: %s\n\n", markdown.Escape(s.name()))
	headlines := seq.Map(s.Parts, func(p Part) string { return p.name() + ": " + p.Headline })
	markdown.List(&b, headlines)
	fmt.Fprintf(&b, "**Verdict: %s** — %s\n\n", mark(exit.Verdict(s.ExitCode())), s.passed())
	writeBlocks(&b, "##", s.tables())
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "## %s\n\n", markdown.Escape(p.name()))
		p.write(&b, "###")
		writeBlocks(&b, "###", p.details())
	}
	b.WriteString("## How to read this\n\n")
	markdown.List(&b, s.legend())
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// tables are the changes of all scenarios, and the scenarios.
func (s Set) tables() []block {
	return []block{
		{"", s.head(), s.changes(), lastIsText, nil},
		{"", []string{"Scenario", "Verdict", "Metrics", "Folder"}, s.scenarios(), noNumbers, nil},
	}
}

func (s Set) name() string {
	return strings.Join(seq.Map(s.Parts, Part.name), ", ")
}

func (s Set) passed() string {
	passed := seq.Count(s.Parts, func(p Part) bool { return p.ExitCode() == exit.Pass })
	return fmt.Sprintf("%d of %d scenarios pass", passed, len(s.Parts))
}

// head is the header of the table of changes. The confidence may differ between scenarios.
func (s Set) head() []string {
	a, b := s.Parts[0].label("A"), s.Parts[0].label("B")
	return []string{"Metric", "Baseline (" + a + ")", "Candidate (" + b + ")", "Improvement", "interval", "p", "judgement"}
}

func (s Set) scenarios() [][]string {
	return seq.Map(s.Parts, func(p Part) []string {
		return []string{p.name(), mark(p.word()), cmp.Or(p.counts(), nothing), p.Folder}
	})
}

// combined are the metrics of the reference document's table, with their names there.
var combined = []struct{ name, title, as string }{
	{"rate_per_s", "rate", "RPS"},
	{"mbit_per_s", "throughput", "Mbit/s"},
	{"avg", "avg", "avg latency"},
	{"p95", "P95", "P95 latency"},
	{"success", "success", "success rate"},
}

// changes returns a row for each of these metrics and each operation, grouped by metric. Operations with the same title
// are distinguished by their scenario.
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
				if m.Name != kind.name || m.Role == Shown || m.Operation == "" {
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

// plain is a median, with its unit unless the metric's name has it.
func (m Metric) plain(s Summary) string {
	if m.Unit == "ms" {
		return write(s.Median, m.Unit) + " ms"
	}
	return write(s.Median, m.Unit)
}

func (s Set) legend() []string {
	lines := []string{"Improvement: the change from the baseline to the candidate: of a rate, more is better, of a latency, less; " +
		"a success rate changes in percentage points"}
	return seq.Distinct(append(lines, seq.Flat(s.Parts, Part.legend)...))
}
