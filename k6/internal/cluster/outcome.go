// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"errors"
	"os"
	"path/filepath"

	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/fault"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

func interrupted() *fault.Fault {
	return &fault.Fault{Code: exitcode.Interrupted, Message: "interrupted; there is no result"}
}

// outcome enters how a scenario ended: what the coordinator's result says, or why there is none.
func (c *cluster) outcome(entry *run.Scenario, code int, f *fault.Fault) {
	name := entry.System + "-" + entry.Scenario + ".json"
	measured, err := result.Read(filepath.Join(c.dir, name))
	if err == nil {
		entry.Result = name
	}
	switch {
	case code == exitcode.Interrupted && err == nil:
		entry.Outcome, entry.Message = run.Interrupted, "interrupted; the result is partial"
	case code == exitcode.Interrupted:
		entry.Outcome, entry.Message = run.Interrupted, interrupted().Message
	case f != nil:
		entry.Outcome, entry.Message, entry.Cause = run.SetupFailed, f.Message, run.OfBench
	case errors.Is(err, os.ErrNotExist):
		entry.Outcome, entry.Cause = run.SetupFailed, run.OfSetUp
		entry.Message = "the coordinator has no result; see logs/" + entry.System + "-" + entry.Scenario + ".coordinator.log"
	case err != nil:
		entry.Outcome, entry.Message, entry.Cause = run.SetupFailed, "malformed result: "+err.Error(), run.OfBench
	case measured.Name() != entry.Name() || measured.Run.ID != c.RunID:
		entry.Outcome, entry.Result, entry.Cause = run.SetupFailed, "", run.OfBench
		entry.Message = "malformed result: it says that it is " + measured.Name() + " of run " + measured.Run.ID
	default:
		entry.Outcome = measured.Verdict
	}
}
