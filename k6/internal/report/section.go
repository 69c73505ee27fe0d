// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/kinds"
	"windtunnel/k6/internal/operations"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
)

func section(e Entry, options Options) Section {
	s := Section{Entry: e, Title: e.Name, Anchor: anchor(e.Name), Result: e.Result}
	r := e.Result
	if r == nil {
		return s
	}
	s.Title = r.Run.Title
	s.Facts = []string{fmt.Sprintf("%s to %s (%s with set-up and clean-up), target %s",
		format.Time(r.Run.Start), format.Time(r.Run.End), format.Seconds(r.Run.DurationS), r.Run.Target)}
	s.Notes = slices.Concat(disturbedNotes(e.Disturbed), disturbedSeconds(*r), r.Notes)
	if r.Connections != nil {
		s.Notes = append(s.Notes, r.Connections.Text())
	}
	for _, t := range slices.Concat(
		[]Table{parametersTable(*r), resultsTable(*r, options), controlsTable(*r)}, seq.Map(r.Sections, sectionTable),
		[]Table{errorsTable(*r), integrityTable(*r), thresholdsTable(*r), validityTable(*r), runnersTable(*r, e.Coordinator), repeatedTable(*r), processesTable(*r), heldTable(*r), restTable(*r)},
	) {
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	return s
}

func parametersTable(r result.Result) Table {
	t := Table{Title: "Parameters", Head: []string{"Parameter", "Value"}, State: -1}
	for _, name := range slices.Sorted(maps.Keys(r.Run.Parameters)) {
		t.Rows = append(t.Rows, []string{strings.ReplaceAll(name, "_", " "), format.Any(r.Run.Parameters[name])})
	}
	return t
}

func resultsTable(r result.Result, options Options) Table {
	shown := append(slices.Clone(operations.Usual), transferColumns(r)...)
	t := Table{Title: "Results", State: -1, Numbers: between(1, len(shown)+1)}
	if slices.ContainsFunc(r.Operations, func(op result.Operation) bool { return op.Items != nil }) {
		shown = append(shown, operations.Column{Head: "Items", Cell: func(op result.Operation) string { return orNone(op.Items, items) }})
	}
	var published []published
	if options.Reference {
		published = references()[r.Run.System]
	}
	for _, p := range published {
		shown = append(shown, operations.Column{Head: "Published (another machine: " + p.Machine + ")",
			Cell: func(op result.Operation) string { return p.cell(r.Run.Scenario, op.Name) }})
		t.Notes = append(t.Notes, fmt.Sprintf(
			"The published figures are from “%s”, measured on another machine (%s) with another client; they are shown, not judged.",
			p.Source, p.Machine))
	}
	t.Head = append([]string{"Operation"}, operations.Heads(shown)...)
	for _, op := range r.Operations {
		t.Rows = append(t.Rows, append([]string{op.Title}, operations.Row(shown, op)...))
		t.Notes = append(t.Notes, operationNotes(op)...)
	}
	return t
}

func items(of result.Items) string {
	return fmt.Sprintf("%s %s, %s/s", format.Count(of.Count), of.Name, format.Rate(of.RatePerS))
}

// operationNotes explains the latency, and why a value is a dash.
func operationNotes(op result.Operation) []string {
	loop := "closed loop: each request waits for the previous answer"
	if op.Loop == "open" {
		loop = "open loop: sent at a fixed rate, counted from the intended send time"
	}
	notes := []string{fmt.Sprintf("%s: latency %s (%s).", op.Title, op.LatencyIs, loop)}
	if op.RatePerS == nil {
		notes = append(notes, fmt.Sprintf("%s: no rate (%s): the time between the first start and the last end is 0.",
			op.Title, format.None))
	}
	l := op.LatencyMS
	if l == nil {
		return append(notes, fmt.Sprintf("%s: no latency (%s): no request succeeded.", op.Title, format.None))
	}
	for _, p := range []struct {
		name  string
		value *float64
		needs int64
	}{{"P50", l.P50, 2}, {"P95", l.P95, 20}, {"P99", l.P99, 100}} {
		if p.value != nil {
			continue
		}
		why := fmt.Sprintf("it needs %d samples, there are %d", p.needs, l.Count)
		if l.Count >= p.needs {
			why = "the generator's lateness is more than half of it"
		}
		notes = append(notes, fmt.Sprintf("%s: no %s (%s): %s.", op.Title, p.name, format.None, why))
	}
	return notes
}

func errorsTable(r result.Result) Table {
	t := Table{Title: "Errors", Head: []string{"Operation", "Kind", "Count", "What it is"}, State: -1}
	for _, op := range r.Operations {
		for _, kind := range slices.Sorted(maps.Keys(op.Errors)) {
			t.Rows = append(t.Rows, []string{op.Title, kind, format.Count(op.Errors[kind]), explainOf(r, op, kind)})
		}
	}
	return t
}

func thresholdsTable(r result.Result) Table {
	t := Table{Title: "Thresholds", Head: []string{"", "Operation", "Measured", "Required"}, State: 0}
	for _, x := range r.Thresholds {
		measured, required := words(x)
		t.Rows = append(t.Rows, []string{tick(&x.OK), x.Operation, measured, required})
	}
	return t
}

// words are the result's words, or k6's expression for an older result.
func words(x result.Threshold) (measured, required string) {
	if x.Measured != "" {
		return x.Measured, x.Required
	}
	if x.Value == nil {
		return "no sample", x.Metric + " " + x.Expression
	}
	return format.Value(x.Value, x.Unit), x.Metric + " " + x.Expression
}

func validityTable(r result.Result) Table {
	t := Table{Title: "Can the figures be trusted?", Head: []string{"", "Check", "Detail"}, State: 0}
	for _, v := range r.Validity {
		t.Rows = append(t.Rows, []string{tick(v.OK), v.Check, v.Detail})
	}
	return t
}

func tick(ok *bool) string {
	switch {
	case ok == nil:
		return tickUnknown
	case *ok:
		return tickOK
	}
	return tickBad
}

func processesTable(r result.Result) Table {
	t := Table{
		Title:   "Processes",
		Head:    []string{"Process", "Role", "CPU (s)", "CPU (% of one core)", "Peak own memory (MiB)", "Peak RSS (MiB)"},
		Numbers: from(2), State: -1,
	}
	for _, p := range r.Processes {
		t.Rows = append(t.Rows, []string{p.Name, p.Role, fmt.Sprintf("%.2f", p.CPUS), format.Percent(p.CPUPercent), orNone(p.PeakAnonBytes, format.MiB), format.MiB(p.PeakRSSBytes)})
		if p.Exit != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s ended before the measurement did: %s.", p.Name, *p.Exit))
		}
	}
	for _, text := range []string{r.CPU.Text(r.Processes), r.Limits.Sentence()} {
		if text != "" {
			t.Notes = append(t.Notes, text+".")
		}
	}
	return t
}

func explainOf(r result.Result, op result.Operation, kind string) string {
	control, ok := r.ControlOf(op.Name)
	return kinds.Explain(kind, ok && control.Errors[kind] == 0)
}

// integrityTable compares the answers to clients with the stored data.
func integrityTable(r result.Result) Table {
	t := Table{
		Title:   "Is the data right?",
		Head:    []string{"", "Check", "Asked", "Reported", "Found", "Detail"},
		Numbers: between(3, 5), State: 0,
	}
	for _, c := range r.Integrity {
		reported := count(c.Reported)
		if c.Source == "processes" && c.Reported != nil { // the bound of a growth or a rate
			reported = "at most " + reported
		}
		t.Rows = append(t.Rows, []string{tick(c.OK), c.Check, sourceText(c.Source), reported, count(c.Found), c.Detail})
	}
	return t
}

func sourceText(source string) string {
	switch source {
	case "sql":
		return "the database"
	case "api":
		return "the system's API"
	case "dns":
		return "the authoritative server"
	case "far_end":
		return "the far end"
	}
	return source
}

func count(n *int64) string { return orNone(n, format.Count) }
