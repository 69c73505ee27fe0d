// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/stream"
	"windtunnel/k6/internal/testbed"
)

// session is what scenarios that run one after the other share.
type session struct {
	Options
	screen     *Screen
	sidecar    *Sidecar
	interrupts *interrupts
	known      string         // versions, as JSON
	stream     *stream.Stream // nil where nothing is streamed
	noRest     bool           // the system is not watched at rest, unless the caller says for how long
}

// job is one scenario to run once: on which system, and where what comes of it goes.
type job struct {
	scenario  Scenario
	testbed   *environment.TestbedRef // nil where the system is up
	placement placement
	sweep     *testbed.Sweep // what the testbed sweeps unless told otherwise
	secrets   []string
	label     string // of its lines on the screen
	runID     string
	dir       string // for the result; it has a folder logs
	again     bool   // the machine spoilt it the time before
}

// job is a scenario of the plan.
func (p *plan) job(o Options, s Scenario, label, runID, dir string) job {
	return job{scenario: s, testbed: p.testbed(s), placement: p.placements[s], sweep: p.bed(s).Sweep,
		secrets: p.secrets(o), label: label, runID: runID, dir: dir}
}

// needsSidecar reports whether nothing can be measured without the sidecar.
func (j job) needsSidecar() bool { return j.testbed != nil || environment.Probed(j.scenario.System) }

// file is the path of a file of the job's, such as its result with the ending .json.
func (j job) file(ending string) string { return filepath.Join(j.dir, j.scenario.FileStem()+ending) }

func (j job) log(ending string) string {
	return filepath.Join(j.dir, "logs", j.scenario.FileStem()+ending)
}

// attempt starts the testbed where there is one, runs k6 and judges what it left. It returns why the
// system's next scenarios would fail too, "" where nothing says so.
func (b *session) attempt(ctx context.Context, j job, entry *run.Scenario) (broken string) {
	begin := time.Now()
	b.stream.Started(b.of(j))
	broken = b.try(ctx, j, entry)
	// A record that is passed on tells nothing of this machine's folders.
	entry.Message = strings.ReplaceAll(entry.Message, b.Root+"/", "")
	b.streamEnd(j, *entry, time.Since(begin))
	return broken
}

func (b *session) try(ctx context.Context, j job, entry *run.Scenario) (broken string) {
	var instance Instance
	if bed := j.testbed; bed != nil {
		b.screen.Progress(j.label + "  starting testbed " + bed.Name)
		var err error
		instance, err = b.sidecar.Start(ctx, bed.Name, bed.Variables)
		switch {
		case errors.Is(err, context.Canceled):
			entry.Outcome, entry.Message = run.Interrupted, "interrupted while its testbed started"
			return ""
		case unsupported(err):
			entry.Outcome, entry.Message = run.LeftOut, err.Error()
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
	redactor := NewRedactor(secrets)
	child := k6Child{
		program:  b.K6,
		script:   j.scenario.Script,
		dir:      b.Root,
		env:      b.childEnvironment(j, instance),
		logPath:  j.log(".k6.log"),
		redactor: redactor,
		progress: func(line string) { b.screen.Progress(j.label + "  " + line + b.part(j)) },
		report:   func(r influx.Report) { b.stream.Heard(b.of(j), r) },
		ended:    b.interrupts.ended,
	}
	stopSampling := func() {}
	child.started = func(pid int) {
		b.interrupts.started(pid)
		stopSampling = b.sample(j, instance, pid)
	}
	stopWatching := func() {}
	if j.needsSidecar() {
		stopWatching = b.stopWithSidecar(j.scenario)
	}
	whatEnded := b.stopWhenEnded(j, instance)
	code, message, err := child.run()
	ended := whatEnded()
	stopWatching()
	stopSampling()
	if err != nil {
		setupFailed(entry, run.OfBench, fmt.Sprintf("k6: %v", reason(err)))
		return ""
	}
	if code != killed {
		entry.ExitCode = &code
	}
	for path, clean := range map[string]func(string) error{
		j.file(".json"): redactor.ResultFile, j.file(record.Extension): redactor.RecordFile, j.file(".dashboard.html"): redactor.File} {
		if err := clean(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			b.screen.Error("%s: %v", strings.TrimPrefix(path, b.Root+"/"), reason(err))
		}
	}
	if instance.ID == "" && isMissing(j.file(".json")) {
		b.cleanUp(j, child, code)
	}
	if ended != "" {
		message = ended
	}
	return b.judge(j, code, message, entry)
}

// endsAtLimit is the profile that is meant to run until a threshold fails.
const endsAtLimit = "breakpoint"

// judge sets the outcome from k6's exit code, its last error message and the result that it wrote;
// it returns what attempt does.
func (b *session) judge(j job, code int, message string, entry *run.Scenario) (broken string) {
	path := j.file(".json")
	name := filepath.Base(path)
	measured, err := result.Read(path)
	if message == "" {
		message = "see logs/" + filepath.Base(j.log(".k6.log"))
	}
	ended := fmt.Sprintf("k6 ended with exit code %d", code)
	if code == killed {
		ended = "k6 was killed"
	}
	if err == nil {
		entry.Result = name
	}
	switch {
	case b.interrupts.any():
		entry.Outcome, entry.Message = run.Interrupted, "interrupted; there is no result"
		if err == nil {
			entry.Message = "interrupted; the result is partial"
		}
	case j.needsSidecar() && !b.sidecar.Alive():
		setupFailed(entry, run.OfBench, b.sidecar.ended().Error()+"; its testbeds and probes ended with it, so what was measured says nothing of the system")
		return entry.Message
	case err != nil && isMissing(path):
		cause := run.OfBench
		if slices.Contains(setUpFails, code) {
			cause = run.OfSetUp
		}
		if code == exitcode.Pass || code == exitcode.Fail || code == killed {
			message = fmt.Sprintf("%s and wrote no %s; %s", ended, name, message)
		}
		setupFailed(entry, cause, message)
	case err != nil:
		setupFailed(entry, run.OfBench, "malformed result: "+err.Error())
	case measured.Name() != j.scenario.String() || measured.Run.ID != j.runID:
		entry.Result = ""
		setupFailed(entry, run.OfBench, fmt.Sprintf("malformed result: %s says that it is %s of run %s", name,
			measured.Name(), measured.Run.ID))
	case code == exitcode.Fail && measured.Verdict == result.Pass && measured.Run.Profile != endsAtLimit:
		entry.Outcome, entry.Message = run.Fail, "k6 says that a threshold failed: "+message
	case code != exitcode.Pass && code != exitcode.Fail && measured.Verdict == result.Pass:
		entry.Outcome, entry.Message = run.Inconclusive, ended+": "+message
	case code == scriptAborted && measured.Verdict == result.Inconclusive:
		entry.Outcome, entry.Message = run.Inconclusive, message
		if !measured.HasMeasured() {
			setupFailed(entry, run.OfSetUp, message)
		}
	default:
		entry.Outcome = measured.Verdict
	}
	return ""
}

// k6's exit codes where a script threw an exception, and where it gave up by exec.test.abort.
const (
	scriptException = 107
	scriptAborted   = 108
)

// setUpFails are k6's exit codes where a set-up did not get through to the system.
var setUpFails = []int{setupTimeout, scriptException, scriptAborted}

// stopWithSidecar stops k6 gracefully when the sidecar, and the testbed with it, ends: k6 would load a dead
// port. What it returns ends the watch.
func (b *session) stopWithSidecar(s Scenario) func() {
	over := make(chan struct{})
	go func() {
		select {
		case <-b.sidecar.done:
			b.screen.Error("%s: the sidecar ended: stopping k6", s)
			b.interrupts.stop()
		case <-over:
		}
	}()
	return func() { close(over) }
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

func (b *session) endInstance(id string) {
	if !b.sidecar.Alive() {
		return
	}
	if err := b.sidecar.End(id); err != nil {
		b.screen.Error("the testbed did not stop: %v", err)
	}
}

// token is what the sidecar wants to see with each request, "" where it wants none.
func (b *session) token() string {
	if b.sidecar == nil {
		return ""
	}
	return b.sidecar.token
}

// childEnvironment is the caller's environment, what the scenarios need to know, and the testbed's
// outputs, secrets among them: they are nowhere but here.
func (b *session) childEnvironment(j job, instance Instance) []string {
	set := map[string]string{
		"PROFILE":            b.Profile,
		"ENV":                b.Env,
		"RUN_ID":             j.runID,
		"RESULT_DIR":         j.dir,
		"K6_NO_USAGE_REPORT": "true",
		"VERSIONS":           b.known,
	}
	set["MEASURED_AGAIN"] = ""
	if j.again {
		set["MEASURED_AGAIN"] = "1" // it waits until others leave the CPUs alone, for some seconds
	}
	if b.noRest && b.getenv("REST_S") == "" {
		set["REST_S"] = "0"
	}
	if b.sidecar != nil {
		set["SIDECAR_URL"] = b.sidecar.URL
	}
	if token := b.token(); token != "" {
		set["SIDECAR_TOKEN"] = token
	}
	maps.Copy(set, j.placement.variables())
	if j.sweep != nil && j.sweep.Applies(instance.Variables) && b.getenv("SWEEP") == "" {
		set["SWEEP"] = j.sweep.Variable
		if b.getenv("VALUES") == "" {
			set["VALUES"] = j.sweep.List()
		}
	}
	if instance.ID != "" {
		set["INSTANCE"] = instance.ID
	}
	b.addOutput(set)
	if b.Dashboard {
		set["K6_WEB_DASHBOARD"] = "true"
		set["K6_WEB_DASHBOARD_HOST"] = b.dashboardHost()
		if b.getenv("K6_WEB_DASHBOARD_PERIOD") == "" {
			set["K6_WEB_DASHBOARD_PERIOD"] = "1s" // k6's 10 s show nothing of a short run
		}
		set["K6_WEB_DASHBOARD_EXPORT"] = j.file(".dashboard.html")
	}
	maps.Copy(set, instance.Outputs)
	maps.Copy(set, instance.SecretOutputs)
	var env []string
	for _, pair := range b.Environ {
		name, _, _ := strings.Cut(pair, "=")
		if _, ours := set[name]; !ours && !foreign(name) {
			env = append(env, pair)
		}
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env
}
