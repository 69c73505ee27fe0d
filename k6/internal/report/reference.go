// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"windtunnel/k6/internal/format"
)

//go:embed reference/*.json
var referenceFiles embed.FS

// published has a document's figures for one system. They are shown beside the measured ones, never judged.
type published struct {
	System  string   `json:"system"`
	Source  string   `json:"source"`
	Machine string   `json:"machine"` // with date
	Figures []figure `json:"figures"`
}

type figure struct {
	Scenario  string  `json:"scenario"`
	Operation string  `json:"operation"`
	RatePerS  float64 `json:"rate_per_s"`
	RateOf    string  `json:"rate_of"`
	AvgMS     float64 `json:"avg_ms"`
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
}

// references are the published documents of each system, in the order of their files.
var references = sync.OnceValue(func() map[string][]published {
	all := map[string][]published{}
	names, err := fs.Glob(referenceFiles, "reference/*.json")
	if err != nil {
		panic(err) // the file is embedded at build time
	}
	for _, name := range names {
		data, err := referenceFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		var p published
		if err := json.Unmarshal(data, &p); err != nil {
			panic(fmt.Sprintf("embedded %s: %v", name, err))
		}
		all[p.System] = append(all[p.System], p)
	}
	return all
})

// cell writes the published figures of an operation, or a dash.
func (p published) cell(scenario, operation string) string {
	for _, f := range p.Figures {
		if f.Scenario == scenario && f.Operation == operation {
			return fmt.Sprintf("%s %s/s; avg %s, P50 %s, P95 %s, P99 %s", format.Rate(&f.RatePerS), f.RateOf,
				format.MS(&f.AvgMS), format.MS(&f.P50MS), format.MS(&f.P95MS), format.MS(&f.P99MS))
		}
	}
	return format.None
}
