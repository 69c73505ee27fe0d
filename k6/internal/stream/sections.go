// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
)

// sectionPoints adds a point for each row of a section, whatever it is about. Its fields are by column: NAME a number, or 1, 0
// and -1 of what holds, does not and is not known; NAME_low and NAME_high the ends of a range; NAME_text a text. A field of
// InfluxDB has one type in all sections.
func sectionPoints(b *influx.Batch, of Of, s result.Section, at time.Time) {
	for i, label := range s.Labels() {
		fields := influx.Fields{}
		for k, cell := range s.Rows[i] {
			name := s.Columns[k].Name
			switch {
			case cell.Text != nil:
				fields[name+"_text"] = *cell.Text
			case cell.OK != nil || s.Columns[k].Unit == "ok":
				fields[name] = float64(truth(cell.OK))
			default:
				fields[name] = cell.Value
			}
			if cell.Range != nil {
				fields[name+"_low"], fields[name+"_high"] = cell.Range.Low, cell.Range.High
			}
		}
		b.Add("sections", of.tags("section", s.Name, "row", label, "operation", s.Operation), fields, at)
	}
}
