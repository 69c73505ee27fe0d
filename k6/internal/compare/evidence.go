// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel/k6/internal/result"
)

// evidence lists what tells where the time went: server-side timings, the database's own time, the CPU
// time of each process of the system. It is compared as all else, but breaks no gate: a part that grows
// while the whole shrinks is no regression.
func evidence(r result.Result) []row {
	var all []row
	add := func(m Metric, value *float64, quiet bool) {
		m.Better, m.Role, m.Notes, m.evidence = direction(false), Shown, []string{}, true
		all = append(all, row{m, value, quiet})
	}
	for _, c := range r.Components {
		name, title := "component."+c.Name, c.Name
		if c.Source == result.Prometheus {
			name, title = "prometheus."+c.Name, c.Name+" (Prometheus)"
		}
		if c.Operation != "" {
			title = titleOf(r, c.Operation) + ": " + title
		}
		add(Metric{Operation: c.Operation, Name: name, Title: title, Unit: "ms"}, c.AvgMS, false)
	}
	if d := r.Database; d != nil && d.Requests > 0 {
		perRequest := d.TotalMS / float64(d.Requests)
		add(Metric{Name: "database.ms_per_request", Title: "the database's own time per request", Unit: "ms"}, &perRequest, true)
	}
	for _, p := range r.Processes {
		if p.Role == "system" {
			add(Metric{Name: "process." + p.Name, Title: p.Name + " CPU", Unit: "s"}, &p.CPUS, true)
		}
	}
	return all
}

func titleOf(r result.Result, operation string) string {
	for _, op := range r.Operations {
		if op.Name == operation {
			return op.Title
		}
	}
	return operation
}

// bottlenecks says of each operation what the runs of both sides name as its bottleneck, a line each.
func bottlenecks(a, b []Measured) []string {
	var lines, seen []string
	for _, m := range append(slices.Clone(a), b...) {
		for _, found := range m.Result.Bottlenecks {
			if slices.Contains(seen, found.Operation) {
				continue
			}
			seen = append(seen, found.Operation)
			title := "the whole run"
			if found.Operation != "" {
				title = titleOf(*m.Result, found.Operation)
			}
			lines = append(lines, fmt.Sprintf("%s: the bottleneck of A is %s; of B %s", title,
				named(a, found.Operation), named(b, found.Operation)))
		}
	}
	return lines
}

// named is such as `database in 5 of 6 runs, not named in 1`.
func named(runs []Measured, operation string) string {
	type count struct {
		component string
		runs      int
	}
	var counts []count
	told := 0
	for _, m := range runs {
		for _, found := range m.Result.Bottlenecks {
			if found.Operation != operation {
				continue
			}
			told++
			component := "not named"
			if found.Component != nil {
				component = *found.Component
			}
			i := slices.IndexFunc(counts, func(c count) bool { return c.component == component })
			if i < 0 {
				counts, i = append(counts, count{component: component}), len(counts)
			}
			counts[i].runs++
		}
	}
	if told == 0 {
		return "not looked for"
	}
	slices.SortStableFunc(counts, func(x, y count) int { return y.runs - x.runs })
	var parts []string
	for i, c := range counts {
		text := fmt.Sprintf("%s in %d", c.component, c.runs)
		if i == 0 {
			text += fmt.Sprintf(" of %d runs", told)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
