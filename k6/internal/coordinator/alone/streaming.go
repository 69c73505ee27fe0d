// SPDX-License-Identifier: AGPL-3.0-only

package alone

import (
	"context"
	"fmt"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/stream"
)

// Part is the position of this scenario in a run: the first scenario streams the start of the run, the last scenario its
// end.
type Part struct {
	More  bool // more scenarios follow
	After int  // combined exit code of the earlier scenarios, or NoneBefore
}

// NoneBefore is the value of After for the first scenario.
const NoneBefore = -1

// openStream begins to stream if the variables ask for it, and prints a line about it. Runners stream their own
// measurements.
func (j *job) openStream() {
	config, wanted, err := stream.Wanted(context.Background(), j.Getenv)
	if err != nil || !wanted {
		return
	}
	fmt.Fprintf(j.Stdout, "streaming to %s\n", config.Place())
	j.stream = stream.Open(config,
		func(line string) { fmt.Fprintln(j.Stderr, line) },
		j.redactor.Clean)
	j.record.Streamed = true
	if j.After == NoneBefore {
		j.stream.RunStarted(j.ofRun(), fmt.Sprintf("environment %s, %d runners", j.record.Environment, j.Runners))
	}
	j.stream.Started(j.of())
}

func (j *job) ofRun() stream.Of { return stream.Of{TestID: j.RunID, Profile: j.Profile} }

func (j *job) of() stream.Of {
	return stream.Of{TestID: j.RunID, Profile: j.Profile, System: j.scenario.System, Scenario: j.scenario.Name}
}

// closeStream streams the end of the scenario, and notes which of the coordinator's points are missing in InfluxDB.
func (j *job) closeStream(code int) {
	if j.stream == nil {
		return
	}
	j.stream.Ended(j.of(), j.record.Scenarios[0], j.dir, time.Since(j.record.Start))
	if !j.More {
		j.stream.RunEnded(j.ofRun(), exit.Verdict(j.ofAll(code)))
	}
	j.record.Notes = append(j.record.Notes, j.stream.Close(j.ofRun())...)
}

// ofAll is the combined exit code of this scenario and the earlier ones.
func (j *job) ofAll(code int) int {
	if j.After == NoneBefore {
		return code
	}
	return exit.Worst(j.After, code)
}
