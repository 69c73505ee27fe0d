// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"context"
	"fmt"
	"strings"

	"windtunnel/k6/internal/influx"
)

// limits have room for all points of a history: nothing is measured meanwhile that would be worth more.
var limits = influx.Limits{Batches: 100_000, Bytes: 256 << 20}

// Stream writes a history to InfluxDB: each value to the measurement trend, each change and creep to trend_changes. Written again, a point is
// the same point. It returns a line where something could not be written, "" where all is there.
func Stream(config influx.Config, h History, groups []Group) string {
	warning := ""
	sender := influx.NewSender(config, limits, func(line string) { warning = line })
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
	outage := sender.Close(context.Background())
	if warning == "" && outage.Any() {
		warning = outage.Missing.Sentence()
	}
	return warning
}

// tags are bounded: by the scenarios, their operations and metrics, and what they were run on.
func tags(h History, g Group, s Series) influx.Tags {
	p := g.Last()
	return influx.Tags{"class": h.Class.Key(), "system": p.System, "scenario": p.Scenario, "profile": p.Profile, "group": g.ID(),
		"operation": none(s.Figure.Operation), "metric": s.Figure.Name, "unit": s.Figure.Unit}
}

// none stands in a tag for what does not apply: InfluxDB has no empty tags.
func none(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
