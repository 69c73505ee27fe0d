// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"math"
	"path/filepath"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

const (
	// mostTimes is how many times as much as its profile says a run of a comparison does at most.
	mostTimes = 8
	// mostRest is how long all that is not measured may take, in measured times: a start, a warm-up, a clean-up.
	mostRest = 0.5
	// fitting pairs are to have room in the time.
	fitting = 16
	// sizingFolder is where the run that tells it is.
	sizingFolder = "sizing"
)

// sized are the profiles that measure a fixed number of operations, which may be over in less time than a start takes. The others
// last as long as they say.
var sized = []string{"smoke", "quick"}

// size runs the scenario once on A to see how long each of its runs is to measure. The run is in results/RUN/sizing, and
// goes into no figure. It tells false where the next runs would fail as this one did.
func (q *Request) size(session *bench.Session, scenario bench.Scenario, most time.Duration) bool {
	folder := filepath.Join(q.Folder, sizingFolder)
	begun := time.Now()
	entry := session.Run(scenario, 0, bench.Turn{Folder: folder, Label: "[sizing] " + scenario.String()})
	whole := time.Since(begun)
	if entry.Outcome == run.SetupFailed || entry.Outcome == run.LeftOut {
		session.Warn("%s: %s", folder, entry.Message)
		return false
	}
	m := measured(filepath.Join(session.Dir, q.Folder), sizingFolder, 0, entry)
	if m.Result == nil {
		return true
	}
	q.times = timesFor(whole, *m.Result, most)
	if q.times > 1 {
		session.Say("%s: each run does %d times as much as its profile says, since of %.1f s of a run %.1f s were measured (TIMES=1 keeps it)",
			scenario, q.times, whole.Seconds(), measuredTime(*m.Result).Seconds())
	}
	return true
}

// timesFor tells how many times as much as its profile says a run is to do, so that the pairs that most has room for measure for most
// of that time: what differs from one run to the next is the machine within parts of a second far more than the system's start,
// so that what counts is for how long each side was measured (docs/compare.md).
func timesFor(whole time.Duration, r result.Result, most time.Duration) int {
	own := measuredTime(r)
	if own <= 0 || whole <= own {
		return 1
	}
	wanted := math.Ceil(float64(whole-own) / float64(own) / mostRest)
	// Clean-up and checks grow with what was done, the start does not.
	grows := min(whole, max(own, r.Run.End.Sub(r.Run.Start)))
	room := float64(most/(2*fitting)-(whole-grows)) / float64(grows)
	return int(max(1, min(wanted, math.Floor(room), mostTimes)))
}

// measuredTime is for how long a run measured: its operations' windows, which may be the same one.
func measuredTime(r result.Result) time.Duration {
	sum := 0.0
	for _, op := range r.Operations {
		sum += op.WindowS
	}
	return min(time.Duration(sum*float64(time.Second)), r.Run.End.Sub(r.Run.Start))
}
