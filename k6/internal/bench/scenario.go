// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

// scenario runs the i-th scenario and fills its entry in the record.
func (b *bench) scenario(ctx context.Context, i int, entry *run.Scenario) {
	s := b.plan.scenarios[i]
	label := fmt.Sprintf("[%d/%d] %s", i+1, len(b.plan.scenarios), s)
	if why, ok := b.broken[s.System]; ok {
		entry.Outcome, entry.Message = run.SetupFailed, why
		if b.lastFault[s.System] != "" {
			entry.Outcome, entry.Message = run.Skipped, "would fail as the scenario before it did"
		}
		b.lastFault[s.System] = why
		b.tell(label, *entry, 0)
		return
	}
	entry.Outcome = run.Running
	_ = b.record.Write(b.dir) // the next write reports an error
	begin := time.Now()
	b.screen.Progress(label + "  starting")
	b.attempt(ctx, label, s, entry)
	// A record that is passed on tells nothing of this machine's folders.
	entry.Message = strings.ReplaceAll(entry.Message, b.Root+"/", "")
	if entry.Outcome == run.SetupFailed {
		if b.lastFault[s.System] == entry.Message {
			b.broken[s.System] = entry.Message
		}
		b.lastFault[s.System] = entry.Message
	}
	b.tell(label, *entry, time.Since(begin))
}

// attempt starts the testbed where there is one, runs k6 and judges what it left.
func (b *bench) attempt(ctx context.Context, label string, s Scenario, entry *run.Scenario) {
	var instance Instance
	if bed := b.plan.env.Systems[s.System].Testbed; bed != nil {
		b.screen.Progress(label + "  starting testbed " + bed.Name)
		var err error
		instance, err = b.sidecar.Start(ctx, bed.Name, bed.Variables)
		switch {
		case errors.Is(err, context.Canceled):
			entry.Outcome, entry.Message = run.Interrupted, "interrupted while its testbed started"
			return
		case err != nil:
			entry.Outcome, entry.Message = run.SetupFailed, err.Error()
			b.broken[s.System] = err.Error()
			return
		}
		defer b.endInstance(instance.ID)
	}
	secrets := b.plan.secrets(b.Options)
	for _, value := range instance.SecretOutputs {
		secrets = append(secrets, value)
	}
	redactor := NewRedactor(secrets)
	child := k6Child{
		program:  b.K6,
		script:   s.Script,
		dir:      b.Root,
		env:      b.childEnvironment(s, instance),
		logPath:  filepath.Join(b.logs(), s.FileStem()+".k6.log"),
		redactor: redactor,
		progress: func(line string) { b.screen.Progress(label + "  " + line) },
		started:  b.interrupts.started,
		ended:    b.interrupts.ended,
	}
	stopWatching := func() {}
	if instance.ID != "" {
		stopWatching = b.stopWithSidecar(s)
	}
	code, message, err := child.run()
	stopWatching()
	if err != nil {
		entry.Outcome, entry.Message = run.SetupFailed, fmt.Sprintf("k6: %v", reason(err))
		return
	}
	if code != killed {
		entry.ExitCode = &code
	}
	for name, clean := range map[string]func(string) error{
		s.FileStem() + ".json": redactor.ResultFile, s.FileStem() + ".dashboard.html": redactor.File} {
		if err := clean(filepath.Join(b.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			b.screen.Error("results/%s/%s: %v", b.RunID, name, reason(err))
		}
	}
	if instance.ID == "" && isMissing(filepath.Join(b.dir, s.FileStem()+".json")) {
		b.cleanUp(s, child, code)
	}
	b.judge(s, code, message, entry)
}

// endsAtLimit is the profile that is meant to run until a threshold fails.
const endsAtLimit = "breakpoint"

// judge sets the outcome from k6's exit code, its last error message and the result that it wrote.
func (b *bench) judge(s Scenario, code int, message string, entry *run.Scenario) {
	name := s.FileStem() + ".json"
	path := filepath.Join(b.dir, name)
	measured, err := result.Read(path)
	if message == "" {
		message = "see logs/" + s.FileStem() + ".k6.log"
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
	case b.plan.env.Systems[s.System].Testbed != nil && !b.sidecar.Alive():
		entry.Outcome = run.SetupFailed
		entry.Message = b.sidecar.ended().Error() + "; its testbed ended with it, so what was measured says nothing of the system"
		b.broken[s.System] = entry.Message
	case err != nil && isMissing(path):
		entry.Outcome, entry.Message = run.SetupFailed, message
		if code == exitcode.Pass || code == exitcode.Fail || code == killed {
			entry.Message = fmt.Sprintf("%s and wrote no %s; %s", ended, name, message)
		}
	case err != nil:
		entry.Outcome, entry.Message = run.SetupFailed, "malformed result: "+err.Error()
	case measured.Name() != s.String() || measured.Run.ID != b.RunID:
		entry.Outcome, entry.Result = run.SetupFailed, ""
		entry.Message = fmt.Sprintf("malformed result: %s says that it is %s of run %s", name,
			measured.Name(), measured.Run.ID)
	case code == exitcode.Fail && measured.Verdict == result.Pass && measured.Run.Profile != endsAtLimit:
		entry.Outcome, entry.Message = run.Fail, "k6 says that a threshold failed: "+message
	case code != exitcode.Pass && code != exitcode.Fail && measured.Verdict == result.Pass:
		entry.Outcome, entry.Message = run.Inconclusive, ended+": "+message
	default:
		entry.Outcome = measured.Verdict
	}
}

// stopWithSidecar stops k6 gracefully when the sidecar, and the testbed with it, ends: k6 would load a dead
// port. What it returns ends the watch.
func (b *bench) stopWithSidecar(s Scenario) func() {
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

func (b *bench) endInstance(id string) {
	if !b.sidecar.Alive() {
		return
	}
	if err := b.sidecar.End(id); err != nil {
		b.screen.Error("the testbed did not stop: %v", err)
	}
}

// tell prints how a scenario ended; the reasons of a result come with the summary.
func (b *bench) tell(label string, entry run.Scenario, took time.Duration) {
	text := label + "  " + b.paint(entry.Outcome)
	if took > 0 {
		text += "  " + format.Seconds(took.Seconds())
	}
	b.screen.Line("%s", text)
}

// childEnvironment is the caller's environment, what the scenarios need to know, and the testbed's
// outputs, secrets among them: they are nowhere but here.
func (b *bench) childEnvironment(s Scenario, instance Instance) []string {
	set := map[string]string{
		"PROFILE":            b.Profile,
		"ENV":                b.Env,
		"RUN_ID":             b.RunID,
		"RESULT_DIR":         b.dir,
		"K6_NO_USAGE_REPORT": "true",
		"VERSIONS":           b.known,
	}
	if b.sidecar != nil {
		set["SIDECAR_URL"] = b.sidecar.URL
	}
	if instance.ID != "" {
		set["INSTANCE"] = instance.ID
	}
	if b.Dashboard {
		set["K6_WEB_DASHBOARD"] = "true"
		set["K6_WEB_DASHBOARD_HOST"] = b.dashboardHost()
		if b.getenv("K6_WEB_DASHBOARD_PERIOD") == "" {
			set["K6_WEB_DASHBOARD_PERIOD"] = "1s" // k6's 10 s show nothing of a short run
		}
		set["K6_WEB_DASHBOARD_EXPORT"] = filepath.Join(b.dir, s.FileStem()+".dashboard.html")
	}
	maps.Copy(set, instance.Outputs)
	maps.Copy(set, instance.SecretOutputs)
	var env []string
	for _, pair := range b.Environ {
		name, _, _ := strings.Cut(pair, "=")
		if _, ours := set[name]; !ours {
			env = append(env, pair)
		}
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env
}

func (b *bench) dashboardHost() string {
	if host := b.getenv("K6_WEB_DASHBOARD_HOST"); host != "" {
		return host
	}
	return "127.0.0.1"
}

func (b *bench) dashboardURL() string {
	port := b.getenv("K6_WEB_DASHBOARD_PORT")
	if port == "" {
		port = "5665"
	}
	return "http://" + net.JoinHostPort(b.dashboardHost(), port)
}
