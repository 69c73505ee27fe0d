// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"cmp"
	"fmt"
	"strings"

	"windtunnel/k6/internal/influx"
)

// Measure is a value in the Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format/.
type Measure struct {
	Value float64 `json:"value"`
}

// Bencher is the latest point of each group in the Bencher Metric Format: benchmark, measure, value. Units are in the measures' names.
func Bencher(groups []Group) map[string]map[string]Measure {
	all := map[string]map[string]Measure{}
	for _, g := range groups {
		p := g.Last()
		for _, f := range p.Figures {
			name := strings.TrimSpace(benchmark(g, p) + " " + f.Operation)
			if all[name] == nil {
				all[name] = map[string]Measure{}
			}
			measure := f.Name
			if f.Unit == "ms" {
				measure += "_ms"
			}
			all[name][measure] = Measure{f.Value}
		}
	}
	return all
}

// Entry is an entry of github-action-benchmark's customSmallerIsBetter and customBiggerIsBetter.
type Entry struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Extra string  `json:"extra"`
}

// GitHub is the latest point of each group for github-action-benchmark, split into smaller-is-better and
// bigger-is-better.
func GitHub(groups []Group) (smaller, bigger []Entry) {
	smaller, bigger = []Entry{}, []Entry{}
	for _, g := range groups {
		p := g.Last()
		for _, f := range p.Figures {
			e := Entry{Name: benchmark(g, p) + ": " + f.Title, Unit: f.Unit, Value: f.Value, Extra: "run " + p.Run + ", " + p.Version()}
			if f.Higher() {
				bigger = append(bigger, e)
			} else {
				smaller = append(smaller, e)
			}
		}
	}
	return smaller, bigger
}

// benchmark names a group: the name includes profile, parameters and testbed.
func benchmark(g Group, p Point) string { return fmt.Sprintf("%s %s %s", p.Name(), p.Profile, g.ID()) }

// limits hold all points of a history: no measurement runs that would need the memory.
var limits = influx.Limits{Batches: 100_000, Bytes: 256 << 20}

// Stream writes a history to InfluxDB: each value to the measurement trend, each change and creep to trend_changes.
// Writing again replaces the same points. It returns a line if a write failed, "" otherwise.
func Stream(config influx.Config, h History, groups []Group) string {
	return influx.Write(config, limits, func(sender *influx.Sender) {
		for _, g := range groups {
			var b influx.Batch
			for _, s := range g.Series {
				for i, value := range s.Values {
					p := g.Points[s.At[i]]
					b.Add("trend", tags(h, g, s), influx.Fields{"value": value, "testid": p.Run, "version": p.Version()}, p.Start)
				}
				for _, c := range s.Changes {
					before, after := g.Between(s, c)
					b.Add("trend_changes", tags(h, g, s), influx.Fields{"title": s.Figure.Title + ": " + changeText(s, c),
						"text": fmt.Sprintf("%s, before it %s", of(after), of(before)), "percent": c.Percent(), "p": c.P}, after.Start)
				}
				for _, c := range s.Creeps {
					last := g.Points[s.At[c.Last]]
					b.Add("trend_changes", tags(h, g, s), influx.Fields{"title": s.Figure.Title + ": creeps", "text": strings.Join(g.remarks(s), "; "),
						"percent": c.Percent(), "p": c.P}, last.Start)
				}
			}
			sender.Send(&b)
		}
	})
}

// tags have a bounded number of values: scenarios, operations, metrics, and the machine's and testbed's properties. InfluxDB has no
// empty tags.
func tags(h History, g Group, s Series) influx.Tags {
	p := g.Last()
	return influx.Tags{"class": h.Class.Key(), "system": p.System, "scenario": p.Scenario, "profile": p.Profile, "group": g.ID(),
		"operation": cmp.Or(s.Figure.Operation, "-"), "metric": s.Figure.Name, "unit": s.Figure.Unit}
}
