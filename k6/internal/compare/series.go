// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"path/filepath"
	"strings"

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

// Measure runs scenarios, a list with commas, in pairs on two testbeds into results/RUN/pairNN-a and -b,
// where there are several into results/RUN/SYSTEM-NAME/pairNN-a and -b: in each turn all on one testbed,
// then all on the other. It returns a request for each, made of the one that says what is common, with
// what came of it. Where it cannot begin, or a side cannot be set up at its first run, it says why and
// returns a code other than exitcode.Pass.
func Measure(o bench.Options, scenarios string, count int, common Request) (dir string, all []Request, code int) {
	session, code := bench.Begin(o, List(scenarios), []string{common.SpecA, common.SpecB})
	if code != exitcode.Pass {
		return "", nil, code
	}
	defer session.End()
	all = requests(common, session, count)
	session.Say("comparison %s: %s, %s, %d pairs: A %s, B %s", filepath.Base(session.Dir), names(all), o.Profile, count,
		common.SpecA, common.SpecB)
	interrupted := func() bool {
		if session.Interrupted() {
			for i := range all {
				all[i].Interrupted = true
			}
		}
		return session.Interrupted()
	}
	for pair := 1; pair <= count; pair++ {
		for _, side := range order(pair) {
			for i, scenario := range session.Scenarios {
				if interrupted() {
					return session.Dir, all, exitcode.Pass
				}
				if !all[i].measure(session, scenario, side, pair) {
					return session.Dir, nil, exitcode.Setup
				}
			}
		}
	}
	interrupted()
	return session.Dir, all, exitcode.Pass
}

// measure runs the scenario once on a side. It tells false where the next runs would fail as this one did.
func (q *Request) measure(session *bench.Session, scenario bench.Scenario, side, pair int) bool {
	name := fmt.Sprintf("pair%02d-%s", pair, sideNames[side])
	folder := filepath.Join(q.Folder, name)
	entry := session.Run(scenario, side, folder, fmt.Sprintf("[pair %d/%d %s] %s", pair, q.Planned, sideNames[side], scenario))
	runs := &q.A
	if side == 1 {
		runs = &q.B
	}
	*runs = append(*runs, measured(filepath.Join(session.Dir, q.Folder), name, pair, entry))
	if entry.Outcome != run.SetupFailed && entry.Outcome != run.LeftOut {
		return true
	}
	session.Warn("%s: %s", folder, entry.Message)
	// What fails at its first run, or with the sidecar, fails at every next.
	return len(*runs) > 1 && session.Alive()
}

// requests are those of a session's scenarios, without runs.
func requests(common Request, session *bench.Session, count int) []Request {
	var all []Request
	for _, scenario := range session.Scenarios {
		q := common
		q.ID, q.Scenario, q.Planned = filepath.Base(session.Dir), scenario.String(), count
		if len(session.Scenarios) > 1 {
			q.Folder = scenario.FileStem()
			q.ID += "/" + q.Folder
		}
		all = append(all, q)
	}
	return all
}

func names(all []Request) string {
	var names []string
	for _, q := range all {
		names = append(names, q.Scenario)
	}
	return strings.Join(names, ", ")
}

// List splits a list with commas.
func List(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// measured is what came of a run in a folder of dir.
func measured(dir, folder string, pair int, entry run.Scenario) Measured {
	m := Measured{Scenario: entry.Name(), File: folder, Outcome: entry.Outcome, Pair: pair}
	if entry.Message != "" {
		m.Reasons = append(m.Reasons, entry.Message)
	}
	if entry.Result == "" {
		return m
	}
	m.File = filepath.Join(folder, entry.Result)
	r, err := result.Read(filepath.Join(dir, m.File))
	if err != nil {
		m.Outcome, m.Reasons = run.SetupFailed, append(m.Reasons, err.Error())
		return m
	}
	m.Result, m.Reasons = &r, append(m.Reasons, result.Texts(r.Reasons)...)
	return m
}
