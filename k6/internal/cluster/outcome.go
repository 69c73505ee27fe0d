// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/run"
)

func interrupted() *exit.Fault {
	return &exit.Fault{Code: exit.Interrupted, Message: "interrupted; there is no result"}
}

// outcome enters the end of a scenario: from the coordinator's record of the run if it was fetched, or else why there is
// no record.
func (c *cluster) outcome(entry *run.Scenario, f *exit.Fault) {
	if f == nil {
		recorded, err := run.Read(c.dir)
		switch {
		case err != nil:
			f = exit.BadSetup("the coordinator's run.json cannot be read: %v", err)
		case recorded.ID != c.RunID || len(recorded.Scenarios) != 1 || recorded.Scenarios[0].Name() != entry.Name():
			f = exit.BadSetup("the coordinator's run.json is of another run")
		default:
			*entry = recorded.Scenarios[0]
			c.record.Notes = append(c.record.Notes, recorded.Notes...)
			return
		}
	}
	entry.Outcome, entry.Message, entry.Cause = run.SetupFailed, f.Message, run.OfBench
	if f.Code == exit.Interrupted {
		entry.Outcome, entry.Cause = run.Interrupted, ""
	}
}
