// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
)

// sectionPoints adds a point for each row of a section. The fields are named by column: NAME is a number, or 1, 0 and -1
// for true, false and unknown; NAME_low and NAME_high are the ends of a range; NAME_text is a text. In InfluxDB, a field
// must have the same type in all sections.
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
