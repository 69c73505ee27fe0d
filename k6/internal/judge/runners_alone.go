// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"fmt"

	"windtunnel/k6/internal/result"
)

// If one runner has worse figures than all others, the cause may be the runner, its network path to the system, or the
// system's limit for one client. In the figures of a hundred runners, one is only 1 %, which bounds may allow.

const (
	// aloneLeast is the smallest number of requests of an operation for which a runner is judged alone.
	aloneLeast = 10
	// aloneFailedMost is the largest share of failed requests in one runner, if a smaller share failed in the whole run.
	aloneFailedMost = 0.5
)

// nothingSent reports a runner without a part of the load: it does not do its work.
func nothingSent(own, all float64) []string {
	if own > 0 || all == 0 {
		return nil
	}
	return []string{"it sent nothing"}
}

// refusedFaults reports a runner with mostly failed requests, if most requests of the whole run succeeded. A run that
// looks for the limit is judged by its steps instead.
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
			continue // this operation's requests may fail
		}
		faults = append(faults, fmt.Sprintf("%s: %.0f of this runner's %.0f requests failed; of all runners %.0f of %d", row.Name, failed, all, whole, row.Requests))
	}
	return faults
}

// limitFaults is for a run that looks for the limit. It reports each runner for which alone the failed step is beyond
// the limit without doubt, while another runner's part of the step held: a limit of the system would affect all.
func (e Evidence) limitFaults(all []Recorded) map[int][]string {
	if e.Steps == nil {
		return nil
	}
	of := counting(all)
	faults := map[int][]string{}
	for number := range e.Steps.Loads {
		if len(faults) > 0 {
			break // the run ends with this step
		}
		for _, op := range e.Operations {
			var broke []Recorded
			held := false
			for _, one := range of {
				in := operationInStep(one.set, op, number)
				switch {
				case in.requests < aloneLeast:
				case in.beyondDoubt:
					broke = append(broke, one)
				case in.holds:
					held = true
				}
			}
			for _, one := range broke {
				if held {
					faults[one.Number] = append(faults[one.Number], fmt.Sprintf("%s: step %d was beyond the limit for this runner, but not for another one", op.Name, number+1))
				}
			}
		}
	}
	return faults
}
