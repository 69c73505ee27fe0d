// SPDX-License-Identifier: AGPL-3.0-only

package result

// Rest is what a process of the system did while nothing was sent; nil where nobody looked.
type Rest struct {
	Name   string  `json:"name"`
	Before *AtRest `json:"before"`
	After  *AtRest `json:"after"`
}

// AtRest is CPU in per cent of one, and how often the process's threads were woken.
type AtRest struct {
	CPUPercent    float64 `json:"cpu_percent"`
	WakeupsPerSec float64 `json:"wakeups_per_s"`
}

// AtRestAfter adds up all processes after the load, nil where nobody looked.
func (r Result) AtRestAfter() *AtRest {
	var all *AtRest
	for _, p := range r.Rest {
		if p.After == nil {
			continue
		}
		if all == nil {
			all = &AtRest{}
		}
		all.CPUPercent += p.After.CPUPercent
		all.WakeupsPerSec += p.After.WakeupsPerSec
	}
	return all
}
