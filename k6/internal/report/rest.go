// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"fmt"
	"strings"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
)

// busyAtRest is the CPU share (percent of one CPU) above which an idle process is reported: programs on the same CPU
// lose that time.
const busyAtRest = 20.0

// restTable is the usage of the system while idle.
func restTable(r result.Result) Table {
	t := Table{Title: "At rest", Head: []string{"Process", "CPU before (%)", "Wake-ups before (/s)", "CPU after (%)", "Wake-ups after (/s)"}, Numbers: from(1), State: -1}
	var busy []string
	for _, p := range r.Rest {
		cells := []string{p.Name}
		for _, at := range []*result.AtRest{p.Before, p.After} {
			if at == nil {
				cells = append(cells, format.None, format.None)
				continue
			}
			cells = append(cells, fmt.Sprintf("%.1f", at.CPUPercent), fmt.Sprintf("%.0f", at.WakeupsPerSec))
			if at.CPUPercent >= busyAtRest && (len(busy) == 0 || busy[len(busy)-1] != p.Name) {
				busy = append(busy, p.Name)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(t.Rows) == 0 {
		return t
	}
	t.Notes = append(t.Notes, "Sampled while idle, before and after the load. CPU is percent of one CPU; wake-ups count how often threads slept and woke. The values after the load include work that the system still had to finish.")
	if len(busy) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s uses %.0f %% of a CPU or more while idle. Programs on the same CPU lose that time, and so does the control.", strings.Join(busy, ", "), busyAtRest))
	}
	return t
}
