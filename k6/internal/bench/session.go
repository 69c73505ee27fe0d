// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/neighbour"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/terminal"
)

// Session runs scenarios many times, each time on one of several testbeds. All runs share one sidecar, and each run has
// its own folder.
type Session struct {
	session
	// Scenarios are in the order in which they were given.
	Scenarios []plan.Scenario
	// Contents has the bytes' digests of each side's programs; it is empty for a system that is up already.
	Contents []contents.Side
	sides    []plan.Plan
	asked    []plan.Asked // by side
	ctx      context.Context
	stop     func()
	held     neighbour.Claim
}

// WatchRest sets whether the next runs sample the idle system, which takes half a second of each run.
func (s *Session) WatchRest(watch bool) { s.noRest = !watch }

// Begin checks each side (as plan.Asked.Side takes it) before anything starts, makes results/RUN and starts the sidecar.
// If that fails, Begin prints why and returns a code other than exit.Pass. It also fails if two sides are the same,
// unless o.Same is set.
func Begin(o Options, scenarios, sides []string) (*Session, int) {
	screen := terminal.New(o.Stdout, o.Stderr, o.TTY, o.Color, o.Width)
	s, f := prepare(o, scenarios, sides)
	if f == nil {
		s.screen = screen
		s.held, f = s.Reserve("compare", screen.Error) // results/latest stays at the bench's last run
	}
	if f != nil {
		return nil, screen.Refuse(f)
	}
	var printed []string
	for _, side := range s.sides {
		for _, line := range side.LeftOut {
			if !slices.Contains(printed, line) {
				screen.Error("%s", line)
				printed = append(printed, line)
			}
		}
	}
	var secrets, public []string
	for i, side := range s.sides {
		secrets = append(secrets, side.Secrets(s.asked[i])...)
		public = append(public, side.Public()...)
	}
	var err error
	s.ctx, s.stop, err = s.open(true, secrets, public)
	if err == nil {
		return s, exit.Pass
	}
	s.End()
	if s.interrupts.Any() {
		return nil, exit.Interrupted
	}
	screen.Error("%v", err)
	return nil, exit.Setup
}

func prepare(o Options, scenarios, sides []string) (*Session, *exit.Fault) {
	s := &Session{session: session{Options: o}}
	var f *exit.Fault
	if s.Scenarios, f = plan.Named(o.Root, scenarios); f != nil {
		return nil, f
	}
	for _, side := range sides {
		if f := s.addSide(o.Asked, side); f != nil {
			return nil, f
		}
		for _, scenario := range s.Scenarios {
			name := scenario.String()
			if first, own := s.sides[0].Placements[name], s.sides[len(s.sides)-1].Placements[name]; own != first {
				return nil, exit.BadUsage("%s and %s do not run on the same CPUs (%s and %s), so they cannot be compared; give both the same cpus",
					sides[0], side, cmp.Or(first.System, "not pinned"), cmp.Or(own.System, "not pinned"))
			}
		}
	}
	if f := s.checkSame(); f != nil {
		return nil, f
	}
	return s, nil
}

func (s *Session) addSide(a plan.Asked, side string) *exit.Fault {
	names := seq.Map(s.Scenarios, plan.Scenario.String)
	a.Only = strings.Join(names, ",")
	a, f := a.Side(side, string(rune('A'+len(s.sides))), s.Scenarios)
	if f != nil {
		return f
	}
	p, f := plan.Make(a)
	if f != nil {
		return f
	}
	for _, scenario := range s.Scenarios {
		bed := p.Testbed(scenario)
		if name, _, _ := strings.Cut(a.Testbed, ":"); a.Testbed != "" && (bed == nil || bed.Name != name) {
			return exit.BadUsage("testbeds/%s.toml does not start the system %s of %s", name, scenario.System, scenario)
		}
	}
	if len(p.Scenarios) < len(s.Scenarios) {
		return exit.BadUsage("%s", strings.Join(p.LeftOut, "\n"))
	}
	s.sides, s.asked = append(s.sides, p), append(s.asked, a)
	s.Contents = append(s.Contents, s.contentsOf(len(s.sides)-1))
	return nil
}

// contentsOf returns the digests of a side's programs as they are now; it is empty for a system that is up already.
func (s *Session) contentsOf(side int) contents.Side {
	p := s.sides[side]
	bed := p.Testbed(s.Scenarios[0])
	if bed == nil {
		return contents.Side{}
	}
	of, err := contents.Of(s.Root, *bed, p.Bed(s.Scenarios[0]))
	if err != nil { // the start reports this error with more detail
		return contents.Side{}
	}
	return of
}

// checkSame rejects two sides with the same bytes: otherwise a failed build would pass.
func (s *Session) checkSame() *exit.Fault {
	for i := 1; i < len(s.sides); i++ {
		first, own := s.asked[0], s.asked[i]
		what := ""
		switch {
		case s.Same:
		case first.Testbed == own.Testbed && first.URL == own.URL && first.Env == own.Env:
			what = cmp.Or(own.URL, own.Testbed, own.Env)
		case contents.Same(s.Contents[0], s.Contents[i]):
			what = s.Contents[i].Contents.String()
		}
		if what != "" {
			return &exit.Fault{Code: exit.Inconclusive, Message: fmt.Sprintf("A and B are the same, with the same settings (%s): nothing is measured; "+
				"was a build forgotten, or one path given twice? %s", what, contents.MeasureSame)}
		}
	}
	return nil
}

// Changed names the side whose bytes differ from those at the start of the session; "" if both are unchanged.
func (s *Session) Changed() string {
	for i, before := range s.Contents {
		if name := before.Contents.Changed(s.contentsOf(i).Contents); name != "" {
			return fmt.Sprintf("the %s of %c changed during the measurement: do not build while a comparison runs, and compare again", name, 'A'+i)
		}
	}
	return ""
}

// Run runs a scenario once on the testbed with index side, into a folder given relative to results/RUN. The entry's Result is
// the name of the result file in that folder.
func (s *Session) Run(scenario plan.Scenario, side int, folder, label string) run.Scenario {
	return s.on(side).runTurn(s.ctx, &s.sides[side], turn{scenario: scenario, folder: folder, label: label})
}

// on is the session with the settings of a side.
func (s *Session) on(side int) *session {
	own := s.session
	own.Asked = s.asked[side]
	return &own
}

// turn is a run of a scenario on one side.
type turn struct {
	scenario      plan.Scenario
	folder, label string
	barrier       string // as in job
}

func (s *session) runTurn(ctx context.Context, p *plan.Plan, t turn) run.Scenario {
	scenario, folder, label := t.scenario, t.folder, t.label
	dir := filepath.Join(s.Dir(), folder)
	record := run.New(s.RunID+"-"+strings.ReplaceAll(folder, "/", "-"), s.Profile, p.Env.Name, scenario.Entry(run.Running))
	record.Streamed = s.stream != nil
	entry := &record.Scenarios[0]
	err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755)
	if err == nil {
		err = record.Write(dir)
	}
	if err != nil {
		setupFailed(entry, run.OfBench, fmt.Sprintf("cannot write results/%s/%s: %v", s.RunID, folder, exit.Reason(err)))
		return *entry
	}
	begin := time.Now()
	s.stream.TurnStarted(s.ofRun(record.ID), "environment "+p.Env.Name+", "+label)
	j := jobOf(p, s.Options, scenario, label, record.ID, dir)
	j.barrier = t.barrier
	s.attempt(ctx, j, entry)
	s.screen.Line("%s  %s  %s", label, s.screen.Paint(entry.Outcome), format.Seconds(time.Since(begin).Seconds()))
	record.End, record.ExitCode = new(run.Now()), new(run.ExitCode(entry.Outcome))
	s.stream.TurnEnded(s.ofRun(record.ID), entry.Outcome)
	record.Notes = s.stream.Notes(s.of(j))
	if err := record.Write(dir); err != nil {
		s.screen.Error("cannot write results/%s/%s/run.json: %v", s.RunID, folder, exit.Reason(err))
	}
	return *entry
}

// Say prints a line; Warn prints a line to stderr.
func (s *Session) Say(format string, args ...any)  { s.screen.Line(format, args...) }
func (s *Session) Warn(format string, args ...any) { s.screen.Error(format, args...) }

// Interrupted reports whether a signal arrived.
func (s *Session) Interrupted() bool { return s.interrupts.Any() }

// Alive reports whether the sidecar, and so any testbed, still runs.
func (s *Session) Alive() bool { return s.sidecar.Alive() }

// End stops what the session started.
func (s *Session) End() {
	for _, line := range s.stream.Close(s.ofRun(s.RunID)) {
		s.screen.Error("%s", line)
	}
	if s.sidecar != nil {
		s.sidecar.Stop()
	}
	s.stop()
	s.held.Release()
}
