// SPDX-License-Identifier: AGPL-3.0-only

package result

// Rest is the usage of a process of the system while idle; nil if not sampled.
type Rest struct {
	Name   string  `json:"name"`
	Before *AtRest `json:"before"`
	After  *AtRest `json:"after"`
}

// AtRest is CPU in percent of one CPU, and how often the process's threads were woken per second.
type AtRest struct {
	CPUPercent    float64 `json:"cpu_percent"`
	WakeupsPerSec float64 `json:"wakeups_per_s"`
}

// AtRestAfter is the sum over all processes after the load, nil if not sampled.
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
