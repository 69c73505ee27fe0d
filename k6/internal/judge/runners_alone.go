// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"

	"windtunnel/k6/internal/result"
)

// A runner that is worse off than all others says something of itself, of its way to the system, or of what the system allows one
// client. In the figures of a hundred it is one per cent, which bounds may allow.

const (
	// aloneLeast is how many requests of an operation a runner must have made before its part says anything by itself.
	aloneLeast = 10
	// aloneFailedMost is the share of its own requests that may fail in one runner where fewer fail in the whole run.
	aloneFailedMost = 0.5
)

// nothingSent: a runner that has no part of the load does not do what it is there for.
func nothingSent(own, all float64) []string {
	if own > 0 || all == 0 {
		return nil
	}
	return []string{"it sent nothing"}
}

// refusedFaults: most of this runner's requests failed, and of the whole run's most did not. A run that looks for the limit is
// judged by its steps.
func (e Evidence) refusedFaults(one Recorded, rows []result.Operation) (faults []string) {
	if e.Steps != nil || len(e.runners) < 2 {
		return nil
	}
	for _, row := range rows {
		own := of(one.set, "operation_failed", row.Name)
		failed, all := own["passes"], own["passes"]+own["fails"]
		whole := float64(row.Requests - row.Success)
		if all < aloneLeast || failed <= aloneFailedMost*all || whole > aloneFailedMost*float64(row.Requests) {
			continue
		}
		if bound := e.find(row.Name).Bounds["failed"]; bound != nil && *bound > aloneFailedMost {
			continue // they may
		}
		faults = append(faults, fmt.Sprintf("%s: %.0f of its %.0f requests failed, of all runners %.0f of %d", row.Name, failed, all, whole, row.Requests))
	}
	return faults
}

// limitFaults, of a run that looks for the limit, are of each runner for which alone the step that broke is beyond doubt too much,
// while another one's part of it held: the system's limit would be that of all.
func (e Evidence) limitFaults(all []Recorded) map[int][]string {
	if e.Steps == nil {
		return nil
	}
	var records []Metrics
	var of []Recorded
	for _, one := range counting(all) {
		records, of = append(records, one.set), append(of, one)
	}
	faults := map[int][]string{}
	for number := range e.Steps.Loads {
		if len(faults) > 0 {
			break // the run ends by it
		}
		for _, op := range e.Operations {
			var broke []Recorded
			held := false
			for i, m := range records {
				in := operationInStep(m, op, number)
				switch {
				case in.requests < aloneLeast:
				case in.beyondDoubt:
					broke = append(broke, of[i])
				case in.holds:
					held = true
				}
			}
			for _, one := range broke {
				if held {
					faults[one.Number] = append(faults[one.Number], fmt.Sprintf("%s: step %d was too much for this runner, and for another one it was not", op.Name, number+1))
				}
			}
		}
	}
	return faults
}
