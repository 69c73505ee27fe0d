// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/difference"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// order returns the sides of a pair's first and second run.
func order(pair int, lot uint64) [2]int {
	if difference.FirstIsB(pair, lot) {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// sideNames are the names in messages and folders.
var sideNames = [2]string{"a", "b"}

// Measure runs scenarios, a list with commas, in pairs on two sides. The folders are results/RUN/pairNN-a and -b, or
// results/RUN/SYSTEM-NAME/pairNN-a and -b for several scenarios. Each turn runs all scenarios on one testbed, then all
// on the other. A scenario that has enough pairs is left out of later turns. Measure returns a request for each
// scenario: a copy of common with the scenario's runs. If it cannot begin, or the first set-up of a side fails, it
// prints why and returns a code other than exit.Pass.
func Measure(o bench.Options, scenarios string, length Length, common Request) (dir string, all []Request, code int) {
	session, code := bench.Begin(o, List(scenarios), []string{common.SpecA, common.SpecB})
	if code != exit.Pass {
		return "", nil, code
	}
	defer session.End()
	common.ContentsA, common.ContentsB = session.Contents[0].Contents, session.Contents[1].Contents
	all = requests(common, session, length)
	session.Say("comparison %s: %s, %s, %s: A %s, B %s", session.RunID, names(all), o.Profile, length,
		describeSide(common.SpecA, common.BuildA, common.ContentsA), describeSide(common.SpecB, common.BuildB, common.ContentsB))
	begun := time.Now()
	lot := difference.Lot(session.RunID)
	open := make([]bool, len(all))
	atOnce := make([]bool, len(all))
	for i := range open {
		open[i], atOnce[i] = true, session.CanRunAtOnce(session.Scenarios[i])
	}
	for pair := 1; slices.Contains(open, true); pair++ {
		if length.Pairs == 0 && time.Since(begun) >= length.Most {
			session.Say("the time is up: no pair begins after %s", length.Most)
			break
		}
		for turn, side := range order(pair, lot) {
			for i, scenario := range session.Scenarios {
				if session.Interrupted() {
					return session.Dir(), interrupted(all), exit.Pass
				}
				goesOn := true
				switch {
				case !open[i]:
				case !atOnce[i]:
					goesOn = all[i].measure(session, scenario, side, pair)
				case turn == 0:
					goesOn = all[i].measureAtOnce(session, scenario, pair)
				}
				if !goesOn {
					return session.Dir(), nil, exit.Setup
				}
			}
		}
		for i := range all {
			if !open[i] {
				continue
			}
			if all[i].differ() { // no later pair makes them comparable
				open[i] = false
				continue
			}
			before := all[i].Look.Number
			open[i] = !all[i].decided(length)
			if open[i] && all[i].Look.Number > before {
				session.Say("%s", all[i].lookText)
			}
		}
	}
	if changed := session.Changed(); changed != "" {
		session.Warn("%s", changed)
		return session.Dir(), nil, exit.Usage
	}
	for i := range all {
		all[i].end(length)
	}
	if session.Interrupted() {
		all = interrupted(all)
	}
	return session.Dir(), all, exit.Pass
}

func describeSide(spec string, build *builds.Build, runs contents.Contents) string {
	if build != nil {
		spec = build.String() + " by " + spec
	}
	if len(runs) > 0 {
		spec += " (" + runs.String() + ")"
	}
	return spec
}

// String returns text such as `10 pairs`.
func (l Length) String() string {
	if l.Pairs > 0 {
		return format.Plural(l.Pairs, "pair")
	}
	return fmt.Sprintf("pairs until the result is clear, for at most %s", l.Most)
}

func interrupted(all []Request) []Request {
	for i := range all {
		all[i].Interrupted = true
	}
	return all
}

// restPairs is how many pairs, from the first on, sample the idle systems: idle figures hardly differ between starts.
const restPairs = 6

// measure runs the scenario once on a side. It returns false if the next runs would fail in the same way.
func (q *Request) measure(session *bench.Session, scenario plan.Scenario, side, pair int) bool {
	session.WatchRest(pair <= restPairs)
	name, label := q.turn(scenario, side, pair)
	return q.take(session, side, pair, session.Run(scenario, side, filepath.Join(q.Folder, name), label))
}

// measureAtOnce runs the scenario on both sides at once. It returns false if the next runs would fail in the same way.
func (q *Request) measureAtOnce(session *bench.Session, scenario plan.Scenario, pair int) bool {
	session.WatchRest(pair <= restPairs)
	var folders, labels [2]string
	for side := range folders {
		name, label := q.turn(scenario, side, pair)
		folders[side], labels[side] = filepath.Join(q.Folder, name), label
	}
	goesOn := true
	for side, entry := range session.RunAtOnce(scenario, folders, labels) {
		goesOn = q.take(session, side, pair, entry) && goesOn
	}
	return goesOn
}

func nameOf(side, pair int) string { return fmt.Sprintf("pair%02d-%s", pair, sideNames[side]) }

// turn returns the folder's name and the label of a run.
func (q *Request) turn(scenario plan.Scenario, side, pair int) (name, label string) {
	of := ""
	if q.Planned > 0 {
		of = fmt.Sprintf("/%d", q.Planned)
	}
	return nameOf(side, pair), fmt.Sprintf("[pair %d%s %s] %s", pair, of, sideNames[side], scenario)
}

// take adds a run to its side. It returns false if the side's next runs would fail in the same way.
func (q *Request) take(session *bench.Session, side, pair int, entry run.Scenario) bool {
	runs := &q.A
	if side == 1 {
		runs = &q.B
	}
	name := nameOf(side, pair)
	*runs = append(*runs, measured(filepath.Join(session.Dir(), q.Folder), name, pair, entry))
	if entry.Outcome != run.SetupFailed && entry.Outcome != run.LeftOut {
		return true
	}
	session.Warn("%s: %s", filepath.Join(q.Folder, name), entry.Message)
	// A side that fails at its first run, or because of the sidecar, fails in every later run.
	return len(*runs) > 1 && session.Alive()
}

// requests returns a request without runs for each of a session's scenarios.
func requests(common Request, session *bench.Session, length Length) []Request {
	var all []Request
	for _, scenario := range session.Scenarios {
		q := common
		q.ID, q.Scenario, q.Planned = session.RunID, scenario.String(), length.Pairs
		q.Look.Comparisons = len(session.Scenarios)
		if len(session.Scenarios) > 1 {
			q.Folder = scenario.FileStem()
			q.ID += "/" + q.Folder
		}
		all = append(all, q)
	}
	return all
}

func names(all []Request) string {
	return strings.Join(seq.Map(all, func(q Request) string { return q.Scenario }), ", ")
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

// measured returns the outcome of a run in a subfolder of dir.
func measured(dir, folder string, pair int, entry run.Scenario) Measured {
	m := Measured{Scenario: entry.Name(), File: folder, Outcome: entry.Outcome, Cause: entry.Cause, Pair: pair}
	if entry.Message != "" {
		m.Reasons = append(m.Reasons, entry.Message)
	}
	if entry.Result == "" {
		return m
	}
	m.File = filepath.Join(folder, entry.Result)
	r, err := result.Read(filepath.Join(dir, m.File))
	if err != nil {
		m.Outcome, m.Cause, m.Reasons = run.SetupFailed, run.OfBench, append(m.Reasons, err.Error())
		return m
	}
	m.Result, m.Reasons = &r, append(m.Reasons, result.Texts(r.Reasons)...)
	return m
}
