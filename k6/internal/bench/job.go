// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/redact"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/sidecar"
	"windtunnel/k6/internal/stream"
	"windtunnel/k6/internal/terminal"
	"windtunnel/k6/internal/testbed"
)

// session is the state that consecutive scenarios share.
type session struct {
	Options
	screen     *terminal.Screen
	sidecar    *sidecar.Sidecar
	interrupts *children.Interrupts
	known      string         // versions, as JSON
	stream     *stream.Stream // nil without streaming
	noRest     bool           // do not sample the idle system, unless the caller sets a duration
}

// job is one scenario to run once: its system, and the paths of its outputs.
type job struct {
	scenario  plan.Scenario
	testbed   *environment.TestbedRef // nil if the system is up already
	placement plan.Placement
	link      string         // of its pair, "" without a link
	sweep     *testbed.Sweep // default sweep of the testbed
	secrets   []string
	public    []string // names that redaction leaves alone
	label     string   // prefix of its lines on the screen
	runID     string
	dir       string // folder of the result; has a folder logs
	again     bool   // the machine spoilt the previous attempt
	barrier   string // value of barrier.Variable, "" for a load that runs alone
}

func jobOf(p *plan.Plan, o Options, s plan.Scenario, label, runID, dir string) job {
	return job{scenario: s, testbed: p.Testbed(s), placement: p.Placements[s.String()], link: o.Link(s), sweep: p.Bed(s).Sweep,
		secrets: p.Secrets(o.Asked), public: p.Public(), label: label, runID: runID, dir: dir}
}

// needsSidecar reports whether the job cannot be measured without the sidecar.
func (j job) needsSidecar() bool { return j.testbed != nil || j.scenario.Probed }

// file is the path of one of the job's files, such as its result with the ending .json.
func (j job) file(ending string) string { return filepath.Join(j.dir, j.scenario.FileStem()+ending) }

func (j job) log(ending string) string {
	return filepath.Join(j.dir, "logs", j.scenario.FileStem()+ending)
}

// attempt starts the testbed if there is one, runs k6 and judges the result. It returns why the system's next scenarios
// would fail too, "" if they may succeed.
func (b *session) attempt(ctx context.Context, j job, entry *run.Scenario) (broken string) {
	begin := time.Now()
	b.stream.Started(b.of(j))
	broken = b.try(ctx, j, entry)
	// Remove this machine's folders from the record, which may be passed on.
	entry.Message = strings.ReplaceAll(entry.Message, b.Root+"/", "")
	b.stream.Ended(b.of(j), *entry, j.dir, time.Since(begin))
	return broken
}

func (b *session) try(ctx context.Context, j job, entry *run.Scenario) (broken string) {
	var instance sidecar.Instance
	killed := b.killed()
	if bed := j.testbed; bed != nil {
		b.screen.Progress(j.label + "  starting testbed " + bed.Name)
		var err error
		instance, err = b.sidecar.Start(ctx, bed.Name, bed.Variables, j.link, j.scenario.StartsRows())
		switch {
		case errors.Is(err, context.Canceled):
			entry.Outcome, entry.Message = run.Interrupted, "interrupted while its testbed started"
			return ""
		case sidecar.Unsupported(err):
			entry.Outcome, entry.Message = run.LeftOut, err.Error()
			return ""
		case sidecar.KilledForMemory(err):
			entry.Outcome, entry.Message = run.Fail, err.Error()
			return ""
		case err != nil:
			cause := run.OfTestbed
			if !b.sidecar.Alive() {
				cause = run.OfBench
			}
			setupFailed(entry, cause, err.Error())
			return err.Error()
		}
		defer b.endInstance(instance.ID)
	}
	secrets := append(slices.Clone(j.secrets), b.token())
	for _, value := range instance.SecretOutputs {
		secrets = append(secrets, value)
	}
	token := ""
	if b.Runners > 1 {
		token = rand.Text()
		secrets = append(secrets, token)
	}
	redactor := redact.New(secrets, j.public...)
	child := children.K6{
		Program:  b.K6,
		Script:   j.scenario.Script,
		Dir:      b.Root,
		Env:      b.childEnvironment(j, instance),
		LogPath:  j.log(".k6.log"),
		Redactor: redactor,
		Progress: func(line string) { b.screen.Progress(j.label + "  " + line + b.part(j)) },
		Report:   func(r influx.Report) { b.stream.Heard(b.of(j), r) },
		Ended:    b.interrupts.Ended,
	}
	if b.Runners > 1 {
		broken = b.runTogether(ctx, j, together{child: child, token: token, instance: instance}, entry)
		b.failIfKilled(killed, entry)
		return broken
	}
	stopSampling := func() {}
	child.Started = func(pid int) {
		b.interrupts.Started(pid)
		stopSampling = b.sample(j, instance, map[string]int{"k6": pid})
	}
	stopWatching := func() {}
	if j.needsSidecar() {
		stopWatching = b.stopWithSidecar(j.scenario)
	}
	whatEnded := b.stopWhenEnded(j, instance)
	code, message, err := child.Run()
	ended := whatEnded()
	stopWatching()
	stopSampling()
	if err != nil {
		setupFailed(entry, run.OfBench, fmt.Sprintf("k6: %v", exit.Reason(err)))
		return ""
	}
	if code != children.Killed {
		entry.ExitCode = &code
	}
	b.redact(j.file(record.Extension), redactor.RecordFile)
	b.redact(j.file(".json"), redactor.ResultFile) // of a script without a record
	b.redact(j.file(".dashboard.html"), redactor.File)
	if err := j.judge(redactor); err != nil && message == "" {
		message = err.Error()
	}
	if instance.ID == "" && isMissing(j.file(".json")) {
		b.cleanUp(j, child, code)
	}
	if ended != "" {
		message = ended
	}
	broken = b.settle(j, code, message, entry)
	if ended == "" && j.wasLeftAlone(code, *entry) && b.sidecar.Alive() && !b.interrupts.Any() {
		entry.Outcome, entry.Cause, entry.Message = run.Interrupted, "", "the other side of this pair ended early, so this side was stopped"
	}
	b.failIfKilled(killed, entry)
	return broken
}

// judge writes the result of k6's record; it does nothing without a record.
func (j job) judge(redactor *redact.Redactor) error {
	path := j.file(record.Extension)
	if isMissing(path) {
		return nil
	}
	records := judge.Open(path)
	found, err := judge.Runners(records)
	if err := errors.Join(err, judge.Close(records)); err != nil {
		return err
	}
	return found.Write(j.file(".json"), redactor.ResultFile)
}

// redact removes secrets from a file of k6; it does nothing without the file.
func (b *session) redact(path string, remove func(string) error) {
	if err := remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		b.screen.Error("%s: %v", strings.TrimPrefix(path, b.Root+"/"), exit.Reason(err))
	}
}

// part returns the part that a probed scenario measures now, such as "  (vless-tls, turn 3)"; "" if unknown.
func (b *session) part(j job) string {
	if b.sidecar == nil || !j.needsSidecar() {
		return ""
	}
	parts := b.sidecar.Parts()
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}

func (b *session) endInstance(id string) {
	if !b.sidecar.Alive() {
		return
	}
	if err := b.sidecar.End(id); err != nil {
		b.screen.Error("the testbed did not stop: %v", err)
	}
}

// open prepares what all scenarios share: the watch for signals, the stream if the caller's variables ask for one, and the
// sidecar if it is needed. The error is the sidecar's, and everything else is open then, too. stop ends the watch.
func (b *session) open(needsSidecar bool, secrets, public []string) (ctx context.Context, stop func(), err error) {
	b.known = b.versions()
	b.interrupts, ctx, stop = children.Watch(b.Signals, func(line string) { b.screen.Error("%s", line) })
	b.openStream(ctx, secrets, public)
	if needsSidecar {
		b.sidecar, err = sidecar.Open(ctx, b.Sidecar, b.Root, run.Logs(b.Dir()), b.Confirmed(), b.Limits())
	}
	return ctx, stop, err
}
