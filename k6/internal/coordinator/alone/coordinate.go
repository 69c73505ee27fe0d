// SPDX-License-Identifier: AGPL-3.0-only

// Package alone runs a coordinator alone: another program starts its runners, such as k6-operator in a cluster. It
// writes the run's folder and report, and returns an exit code.
package alone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/cleanup"
	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/stream"
)

// Options say what to coordinate. Asked.Only is one scenario, SYSTEM/NAME.
type Options struct {
	bench.Options
	Listen  string // HOST:PORT
	Wait    time.Duration
	Silence time.Duration
	Part
}

// farewell is how long, after the report is written, runners may take to fetch the confirmation that their records
// arrived.
const farewell = 5 * time.Second

// progressEvery is the interval between printed lines of the runners' progress, if the progress has changed.
const progressEvery = 2 * time.Second

type job struct {
	Options
	scenario plan.Scenario
	dir      string
	redactor *redact.Redactor
	keeper   *coordinator.Coordinator
	record   run.Run
	stream   *stream.Stream // nil without streaming
}

// Run coordinates one run and returns its exit code.
func Run(o Options) int {
	j, wrong := prepare(o)
	if wrong != nil {
		return wrong.Say(o.Stderr)
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return exit.Say(o.Stderr, exit.Setup, "nothing can listen at %s: %v; give --listen HOST:PORT", o.Listen, errors.Unwrap(err))
	}
	server := j.keeper.Server()
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	fmt.Fprintf(o.Stdout, "run %s: %s, %d runners, coordinator at http://%s\n", o.RunID, j.scenario, o.Runners, listener.Addr())
	j.openStream()
	return j.run()
}

func prepare(o Options) (*job, *exit.Fault) {
	token := o.Getenv("COORDINATOR_TOKEN")
	if len(token) < 16 {
		return nil, exit.BadUsage("COORDINATOR_TOKEN is not set, or shorter than 16 characters: it is the secret that runners share with the coordinator")
	}
	if o.Runners < 1 {
		return nil, exit.BadUsage("--runners: give how many runners there are")
	}
	if o.RunID == "" {
		return nil, exit.BadUsage("--run-id: give the run's name; its runners have the same RUN_ID")
	}
	if _, err := influx.FromEnvironment(o.Getenv); err != nil {
		return nil, exit.BadUsage("%v", err)
	}
	chosen, wrong := plan.Named(o.Root, []string{o.Only})
	if wrong != nil {
		return nil, wrong
	}
	env, problems := check.Environment(o.Root, o.Env)
	if len(problems) > 0 {
		return nil, exit.BadUsage("%s", problems[0])
	}
	if wrong := plan.CheckClients(o.Asked, chosen); wrong != nil {
		return nil, wrong
	}
	p := plan.Plan{Env: env, Scenarios: chosen}
	j := &job{Options: o, scenario: chosen[0], dir: o.Dir(), redactor: redact.New(append(p.Secrets(o.Asked), token), p.Public()...)}
	if err := os.MkdirAll(filepath.Join(j.dir, "logs"), 0o755); err != nil {
		return nil, exit.BadSetup("cannot make results/%s: %v", o.RunID, exit.Reason(err))
	}
	if _, err := os.Stat(filepath.Join(j.dir, run.FileName)); err == nil {
		return nil, exit.BadUsage("results/%s exists already; give another --run-id", o.RunID)
	}
	j.record = run.New(o.RunID, o.Profile, env.Name, j.scenario.Entry(run.Running))
	if err := j.record.Write(j.dir); err != nil {
		return nil, exit.BadSetup("cannot write results/%s/run.json: %v", o.RunID, exit.Reason(err))
	}
	j.keeper = coordinator.New(coordinator.Config{Runners: o.Runners, Token: token, Folder: j.dir, Name: j.scenario.FileStem(),
		Patience: o.Wait, Silence: o.Silence, Say: func(line string) { fmt.Fprintln(o.Stderr, line) }})
	return j, nil
}

func (j *job) run() int {
	watching, stopWatching := context.WithCancel(context.Background())
	defer stopWatching()
	interrupted, stop := j.onSignals(stopWatching)
	defer stop()
	go j.keeper.Watch(watching)
	last := ""
	stopPrinting := children.Every(progressEvery, func() {
		if now := j.keeper.Progress(); now != last {
			fmt.Fprintln(j.Stdout, now)
			last = now
		}
	})
	_ = j.keeper.Wait(watching) // it returns if all runners have joined or gone, or after waitNoMore
	stopWatching()
	stopPrinting()
	j.judge(interrupted())
	if j.keeper.Unclean() {
		j.cleanUp()
	}
	code := j.finish()
	goodbyes, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	j.keeper.Farewell(goodbyes)
	return code
}

// onSignals stops all runners at the first signal, and ends the wait for them at the second. interrupted reports whether
// a signal arrived.
func (j *job) onSignals(waitNoMore func()) (interrupted func() bool, stop func()) {
	var any atomic.Bool
	stop = children.OnSignal(j.Signals, func(count int) {
		any.Store(true)
		if count > 1 {
			waitNoMore()
		}
		j.keeper.Stop("interrupted: all runners clean up and write what they have")
	})
	return any.Load, stop
}

// judge writes the result and fills the entry of the record.
func (j *job) judge(interrupted bool) {
	entry := &j.record.Scenarios[0]
	entry.Coordinator = j.keeper.Cost("k6 x coordinate")
	files, lost := j.keeper.Records()
	for _, path := range files {
		if err := j.redactor.RecordFile(path); err != nil {
			fmt.Fprintf(j.Stderr, "%s: %v\n", filepath.Base(path), exit.Reason(err))
		}
	}
	found, err := j.keeper.Judge()
	if err == nil {
		err = found.Write(filepath.Join(j.dir, j.scenario.FileStem()+".json"), j.redactor.ResultFile)
	}
	switch {
	case err != nil && len(files) == 0:
		entry.Outcome, entry.Cause, entry.Message = run.SetupFailed, run.OfSetUp, j.whyNone(lost)
	case err != nil:
		entry.Outcome, entry.Cause, entry.Message = run.SetupFailed, run.OfBench, err.Error()
	default:
		entry.Outcome, entry.Result = found.Verdict, j.scenario.FileStem()+".json"
		if found.Verdict == result.Inconclusive {
			entry.Message = j.keeper.Stopped()
		}
		// This is the same outcome as for a single k6 whose script threw an exception.
		if left := j.keeper.Left(); left != "" && found.Verdict == result.Pass {
			entry.Outcome, entry.Message = run.Inconclusive, left
		}
	}
	if interrupted {
		entry.Outcome, entry.Cause = run.Interrupted, ""
		entry.Message = "interrupted; the result is partial"
		if entry.Result == "" {
			entry.Message = "interrupted; there is no result"
		}
	}
}

func (j *job) whyNone(lost map[int]string) string {
	if why := j.keeper.Stopped(); why != "" {
		return why
	}
	return fmt.Sprintf("runner 1 of %d %s", j.Runners, lost[1])
}

// cleanUp removes the objects of the run's set-up that no runner has removed.
func (j *job) cleanUp() {
	script := cleanup.ScriptOf(j.Root, j.scenario.System, j.scenario.Name)
	if script == "" {
		return
	}
	child := children.K6{Program: j.K6, Dir: j.Root, LogPath: filepath.Join(j.dir, "logs", j.scenario.FileStem()+".cleanup.log"),
		Redactor: j.redactor, Env: append(j.Environ, "RUN_ID="+j.RunID, "ENV="+j.Env)}
	if why := cleanup.Run(child, script); why != "" {
		fmt.Fprintf(j.Stderr, "%s: objects of its set-up may remain on the target: %s; to remove them, run: %s\n", j.scenario, why,
			cleanup.Command(j.RunID, j.scenario.System, j.Env))
	}
}

// finish closes the record, writes the report and prints the verdict.
func (j *job) finish() int {
	j.record.End = new(run.Now())
	set, err := report.LoadRun(j.dir, &j.record)
	code := set.ExitCode()
	if err != nil {
		code = exit.Setup
	}
	j.record.ExitCode = &code
	j.closeStream(code)
	err = errors.Join(err, j.record.Write(j.dir), report.Write(set, j.dir, report.Formats(), report.Options{}))
	if err != nil {
		fmt.Fprintf(j.Stderr, "cannot write results/%s: %v\n", j.RunID, exit.Reason(err))
		code = exit.Worst(code, exit.Setup)
	}
	lines, _ := report.Lines(set.Entries())
	for _, line := range lines {
		fmt.Fprintln(j.Stdout, line.String())
	}
	fmt.Fprintf(j.Stdout, "verdict: %s\nreport: results/%s/report.html\n", set.Verdict(), j.RunID)
	return code
}

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
