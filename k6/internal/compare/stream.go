// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"strings"

	"windtunnel/k6/internal/influx"
)

// limits are large enough for the comparisons of all scenarios.
var limits = influx.Limits{Batches: 100, Bytes: 1 << 20}

// Stream writes the judgement of each comparison to InfluxDB, in the measurement comparisons. It returns a line if a
// write failed, "" otherwise.
func Stream(config influx.Config, all []Comparison) string {
	return influx.Write(config, limits, func(sender *influx.Sender) {
		var b influx.Batch
		for _, c := range all {
			c.point(&b)
		}
		sender.Send(&b)
	})
}

func (c Comparison) point(b *influx.Batch) {
	b.Add("comparisons", influx.Tags{"testid": c.ID, "profile": c.Profile, "system": c.System, "scenario": c.Scenario},
		influx.Fields{"verdict": c.Verdict, "headline": c.Headline, "reasons": strings.Join(c.Reasons, "\n"), "a": c.A.Spec, "b": c.B.Spec,
			"pairs": int64(min(len(c.A.Runs), len(c.B.Runs)))}, c.Made)
}
