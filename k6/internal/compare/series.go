// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"path/filepath"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// order tells which side a pair's first and second run are of: A B, then B A, and so on, so that
// neither side is always the one that finds a warm machine.
func order(pair int) [2]int {
	if pair%2 == 0 {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// sideNames are for people and folders.
var sideNames = [2]string{"a", "b"}

// Measure runs a scenario in pairs on two testbeds into results/RUN/pairNN-a and -b, and fills the
// request with what came of it. Where it cannot begin, or a side cannot be set up at its first run,
// it says why and returns a code other than exitcode.Pass.
func Measure(o bench.Options, scenario string, count int, q *Request) (dir string, code int) {
	session, code := bench.Begin(o, scenario, []string{q.SpecA, q.SpecB})
	if code != exitcode.Pass {
		return "", code
	}
	defer session.End()
	q.ID, q.Planned = filepath.Base(session.Dir), count
	session.Say("comparison %s: %s, %s, %d pairs: A %s, B %s", q.ID, session.Scenario, o.Profile, count, q.SpecA, q.SpecB)
	for pair := 1; pair <= count; pair++ {
		for _, side := range order(pair) {
			if session.Interrupted() {
				q.Interrupted = true
				return session.Dir, exitcode.Pass
			}
			name := fmt.Sprintf("pair%02d-%s", pair, sideNames[side])
			entry := session.Run(side, name, fmt.Sprintf("[pair %d/%d %s] %s", pair, count, sideNames[side], session.Scenario))
			runs := &q.A
			if side == 1 {
				runs = &q.B
			}
			*runs = append(*runs, measured(session.Dir, name, pair, entry))
			if entry.Outcome != run.SetupFailed {
				continue
			}
			session.Warn("%s: %s", name, entry.Message)
			// What fails at its first run, or with the sidecar, fails at every next.
			if len(*runs) == 1 || !session.Alive() {
				return session.Dir, exitcode.Setup
			}
		}
	}
	q.Interrupted = session.Interrupted()
	return session.Dir, exitcode.Pass
}

func measured(dir, folder string, pair int, entry run.Scenario) Measured {
	m := Measured{File: folder, Outcome: entry.Outcome, Pair: pair}
	if entry.Message != "" {
		m.Reasons = append(m.Reasons, entry.Message)
	}
	if entry.Result == "" {
		return m
	}
	m.File = entry.Result
	r, err := result.Read(filepath.Join(dir, entry.Result))
	if err != nil {
		m.Outcome, m.Reasons = run.SetupFailed, append(m.Reasons, err.Error())
		return m
	}
	m.Result, m.Reasons = &r, append(m.Reasons, r.Reasons...)
	return m
}
