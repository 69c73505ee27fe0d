// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"strings"
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
)

// protocolPoints adds the rows of a run of protocols: how each side ended, the medians of its figures, and what the
// candidate is by the baseline.
func protocolPoints(b *influx.Batch, of Of, p result.Protocols, at time.Time) {
	for _, row := range p.Rows {
		sidePoint(b, of.tags("row", row.Row, "side", "baseline"), row.Baseline, nil, at)
		if row.Candidate != nil {
			sidePoint(b, of.tags("row", row.Row, "side", "candidate"), *row.Candidate, row.Comparison, at)
		}
	}
}

func sidePoint(b *influx.Batch, tags influx.Tags, side result.ProtocolSide, compared []result.ProtocolComparison, at time.Time) {
	fields := influx.Fields{"outcome": side.Outcome}
	if side.Detail != nil {
		fields["detail"] = *side.Detail
	}
	for name, spread := range side.Figures {
		if spread != nil {
			fields[name] = spread.Median
		}
	}
	for _, c := range compared {
		target := strings.ToLower(strings.ReplaceAll(c.Target, " ", "_"))
		if c.Judged != "" { // first reply and CPU have no target
			fields[target+"_judged"] = c.Judged
		}
		fields[target+"_ratio"], fields[target+"_low"], fields[target+"_high"] = c.Ratio, c.Low, c.High
	}
	b.Add("protocols", tags, fields, at)
}
