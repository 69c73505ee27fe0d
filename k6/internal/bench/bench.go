// SPDX-License-Identifier: AGPL-3.0-only

// Package bench runs scenarios: it starts their testbeds through the sidecar, runs k6, keeps the record of the run, and
// ends with the report and a verdict.
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/neighbour"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/terminal"
)

// Options say what to run. All paths are absolute. Signals carries SIGINT and SIGTERM.
type Options struct {
	plan.Asked
	RunID string // generated if empty
	// MayLeaveOut allows a run that leaves out all scenarios to pass.
	MayLeaveOut bool
	// Same allows two sides of a comparison to have the same bytes.
	Same bool
	// InTurn runs a side of a comparison after the other one has ended.
	InTurn   bool
	K6       string // path of the k6 that runs scripts
	Stdout   io.Writer
	Stderr   io.Writer
	TTY      bool
	Color    bool
	Width    int // of the terminal, in columns
	Signals  <-chan os.Signal
	reserved bool // Reserve has made the run's folder
}

// Run runs the bench and returns its exit code.
func Run(o Options) int {
	screen := terminal.New(o.Stdout, o.Stderr, o.TTY, o.Color, o.Width)
	p, f := plan.Make(o.Asked)
	if f != nil {
		return screen.Refuse(f)
	}
	for _, line := range p.LeftOut {
		screen.Error("%s", line)
	}
	held, f := o.Reserve(o.Profile, screen.Error)
	if f != nil {
		return screen.Refuse(f)
	}
	defer held.Release()
	b := &bench{session: session{Options: o, screen: screen}, plan: p,
		broken: map[plan.Subject]broken{}, lastFault: map[plan.Subject]string{}}
	if f := b.begin(); f != nil {
		return screen.Refuse(f)
	}
	screen.Line("run %s: %s, environment %s, %s", b.RunID, b.Profile, p.Env.Name, format.Plural(len(p.Scenarios), "scenario"))
	ctx, stop, err := b.open(p.NeedsSidecar, p.Secrets(b.Asked), p.Public())
	defer stop()
	if err != nil && ctx.Err() == nil {
		b.withoutSidecar(err)
	}
	return b.run(ctx)
}

type bench struct {
	session
	plan      plan.Plan
	record    run.Run
	broken    map[plan.Subject]broken // why the next scenarios of this system would fail too
	lastFault map[plan.Subject]string // last set-up failure
}

// begin makes the record of the run and the link results/latest.
func (b *bench) begin() *exit.Fault {
	entries := seq.Map(b.plan.Scenarios, func(s plan.Scenario) run.Scenario { return s.Entry(run.Planned) })
	b.record = run.New(b.RunID, b.Profile, b.plan.Env.Name, entries...)
	_, f := b.record.Begin(b.Root, true)
	return f
}

func (b *bench) run(ctx context.Context) int {
	b.record.Streamed = b.stream != nil
	b.stream.RunStarted(b.ofRun(b.RunID), fmt.Sprintf("environment %s, %s", b.plan.Env.Name, format.Plural(len(b.plan.Scenarios), "scenario")))
	if b.Dashboard {
		b.screen.Line("dashboard while k6 runs: %s", b.DashboardURL())
	}
	diskFull := ""
	for i := range b.plan.Scenarios {
		entry := &b.record.Scenarios[i]
		switch {
		case b.interrupts.Any():
			entry.Outcome, entry.Message = run.Skipped, "interrupted before its turn"
		case diskFull != "":
			entry.Outcome, entry.Message = run.Skipped, diskFull
		default:
			b.scenario(ctx, i, entry)
		}
		if err := b.record.Write(b.Dir()); err != nil && diskFull == "" {
			diskFull = fmt.Sprintf("cannot write results/%s/run.json: %v", b.RunID, exit.Reason(err))
			b.screen.Error("%s", diskFull)
		}
	}
	if b.sidecar != nil {
		b.sidecar.Stop()
	}
	return b.finish(diskFull)
}

// withoutSidecar records that the sidecar did not start. Systems with a testbed and probed systems cannot be tested
// then; the others are tested without CPU and memory figures.
func (b *bench) withoutSidecar(err error) {
	measured := false
	for _, s := range b.plan.Scenarios {
		if s.NeedsSidecar(b.plan.Env.Systems[s.System]) {
			b.broken[b.plan.Subject(s)] = broken{err.Error(), run.OfBench}
		} else {
			measured = true
		}
	}
	if measured {
		b.screen.Error("CPU and memory are not measured: %v", err)
	}
}

func (b *bench) finish(diskFull string) int {
	code := exit.Pass // the worst code apart from the scenarios' outcomes
	if diskFull != "" {
		code = exit.Setup
	}
	if b.interrupts.Any() {
		code = exit.Interrupted
	}
	return Finish(b.screen, b.Dir(), &b.record, code, b.MayLeaveOut, func(verdict string) []string {
		b.stream.RunEnded(b.ofRun(b.RunID), verdict)
		return b.stream.Close(b.ofRun(b.RunID))
	})
}

// Finish closes the record of the run in dir, writes the report and prints the summary. code is the worst code apart from the
// scenarios' outcomes. unstream ends a stream, and says what InfluxDB lacks.
func Finish(screen *terminal.Screen, dir string, record *run.Run, code int, mayLeaveOut bool, unstream func(verdict string) []string) int {
	set, readErr := report.LoadRun(dir, record)
	if readErr != nil {
		code = exit.Worst(code, exit.Setup)
	}
	if !mayLeaveOut || !set.LeftOut() {
		code = exit.Worst(code, set.ExitCode())
	}
	missing := unstream(set.Verdict())
	record.Notes = append(record.Notes, missing...)
	record.End, record.ExitCode = new(run.Now()), &code
	err := record.Write(dir)
	if err == nil && readErr == nil {
		err = report.Write(set, dir, report.Formats(), report.Options{})
	}
	if err != nil || readErr != nil {
		code = exit.Worst(code, exit.Setup) // the record and the verdict printed below use this code
	}
	screen.Summary(set)
	for _, line := range missing {
		screen.Error("%s", line)
	}
	switch {
	case readErr != nil:
		screen.Error("%v", readErr)
	case err != nil:
		screen.Error("cannot write the report into results/%s: %v", record.ID, exit.Reason(err))
	default:
		screen.Line("report: %s", filepath.Join("results", record.ID, "report.html"))
	}
	return code
}

// Reserve chooses the id of the run, claims the host and makes the run's folder, unless an earlier call has done this.
// A new id contains what. The caller releases the claim at its end.
func (o *Options) Reserve(what string, warn func(format string, args ...any)) (held neighbour.Claim, f *exit.Fault) {
	if o.reserved {
		return held, nil
	}
	if o.RunID, f = run.ID(o.RunID, what, time.Now()); f != nil {
		return held, f
	}
	if held, f = neighbour.ClaimHost(o.Dir(), o.Getenv("BESIDE") != "", warn); f != nil {
		return held, f
	}
	if f = run.MakeFolder(o.Dir()); f != nil {
		held.Release()
		return neighbour.Claim{}, f
	}
	o.reserved = true
	return held, nil
}

// Dir is results/RUN.
func (o *Options) Dir() string { return filepath.Join(o.Root, "results", o.RunID) }
