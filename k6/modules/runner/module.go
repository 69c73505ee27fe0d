// SPDX-License-Identifier: AGPL-3.0-only

// Package runner is the module k6/x/windtunnel/runner: it makes a script one of several runners of a run, if
// COORDINATOR_URL is set. lib/globals.d.ts has its types.
package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/grafana/sobek"
	"go.k6.io/k6/errext"
	"go.k6.io/k6/errext/exitcodes"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
)

const ImportPath = "k6/x/windtunnel/runner"

func init() {
	modules.Register(ImportPath, jsvalue.Module(exports))
}

type instance struct {
	jsvalue.Script
	vu     modules.VU
	member *member // nil with a single runner
}

// exports of all VUs belong to one process, and so to one runner.
func exports(vu modules.VU) map[string]any {
	i := instance{jsvalue.Script{Runtime: vu.Runtime, Module: ImportPath}, vu, ofProcess()}
	return map[string]any{
		"many":        func() bool { return i.member != nil },
		"setsUp":      i.setsUp,
		"made":        i.shareSetUp,
		"data":        i.data,
		"start":       i.start,
		"stopAll":     i.stopAll,
		"tearsDown":   i.tearsDown,
		"tornDown":    i.tornDown,
		"deliver":     i.deliver,
		"draft":       i.draft,
		"leave":       i.withdraw,
		"undelivered": i.undelivered,
	}
}

// setsUp registers the runner, and returns whether it sets up; definition must be the same text in all runners.
func (i instance) setsUp(definition string) bool {
	state := i.vu.State()
	if state == nil {
		i.Must(errors.New("setsUp() is for setup()"))
	}
	load, err := json.Marshal(state.Options.Scenarios)
	i.Must(err)
	// Arguments of k6 run, such as --vus, override the script's load, so the definition includes the load.
	does, err := i.member.setsUp(i.vu.Context(), definition+"\n"+string(load), state.Options.ExecutionSegment, state.Options.ExecutionSegmentSequence)
	i.end(err)
	return does
}

// shareSetUp sends the set-up's return value to the other runners.
func (i instance) shareSetUp(data sobek.Value) sobek.Value {
	i.end(i.member.client.Made(i.vu.Context(), i.OutOf(data)))
	return data
}

// data is the return value of the set-up of another runner.
func (i instance) data() sobek.Value { return i.Into(json.RawMessage(i.member.data)) }

func (i instance) start() { i.end(i.member.start(i.vu.Context())) }

// stopAll asks to stop all runners; it does not wait.
func (i instance) stopAll(why string) {
	if i.member != nil {
		i.member.stopAll(why)
	}
}

// tearsDown waits until the load of all runners has ended, and returns whether this runner cleans up. early says why its
// own load ended early, "" if it did not.
func (i instance) tearsDown(early string) bool {
	does, err := i.member.tearsDown(i.vu.Context(), early)
	if why := i.member.stopped.Load(); why != nil {
		i.logError(*why)
	}
	i.logError(err)
	return does
}

// tornDown reports that this runner has cleaned up, or why it could not.
func (i instance) tornDown(failed string) {
	i.logError(i.member.client.TornDown(i.vu.Context(), failed))
}

// deliver sends the runner's record with the script's evidence. zeroUnixMS is the zero of its operations' clock.
func (i instance) deliver(evidence sobek.Value, zeroUnixMS float64) {
	i.Must(i.member.deliver(i.recordOf(evidence, zeroUnixMS)))
}

// undelivered ends this k6 from within handleSummary: k6 only logs exceptions there, and exits with 0, but a runner
// whose record did not reach the coordinator has failed. The rest of k6 has finished by then. A runner that a signal
// stopped ends anyway.
func (i instance) undelivered(why string) {
	why = strings.TrimPrefix(why, ImportPath+": ")
	if !i.member.loggedDeaf.Swap(true) || !strings.Contains(why, coordinator.ErrDeaf.Error()) {
		i.vu.State().Logger.Error(why)
	}
	i.member.withdraw("could not leave its record: " + why)
	if i.member.stopped.Load() == nil && !i.member.interrupted.Load() {
		exit(int(exitcodes.ExternalAbort))
	}
}

var exit = os.Exit

// draft sends the same as deliver, if this runner tore down, and returns metrics of all runners; otherwise null.
func (i instance) draft(evidence sobek.Value, zeroUnixMS float64, k6Metrics *sobek.Object) sobek.Value {
	if !i.member.self.Teardown {
		return sobek.Null()
	}
	i.Must(i.member.client.Draft(i.vu.Context(), i.recordOf(evidence, zeroUnixMS)))
	return jsvalue.Metrics(i.vu.Runtime(), k6Metrics, func(name string) map[string]float64 {
		values, err := i.member.client.Values(i.vu.Context(), name)
		i.Must(err)
		return values
	})
}

func (i instance) recordOf(evidence sobek.Value, zeroUnixMS float64) []byte {
	asked, err := judge.EvidenceOf(i.OutOf(evidence), record.OfProcess)
	i.Must(err)
	file, err := judge.RecordFile(i.member.evidence(asked, zeroUnixMS), record.OfProcess)
	i.Must(err)
	return file
}

func (i instance) withdraw(why string) { i.member.withdraw(why) }

func (i instance) logError(err error) {
	if err != nil && !i.wasLogged(err) {
		i.vu.State().Logger.Error(err.Error())
	}
}

// wasLogged reports whether an error was logged already: a missing coordinator is logged only once.
func (i instance) wasLogged(err error) bool {
	return errors.Is(err, coordinator.ErrDeaf) && i.member.loggedDeaf.Swap(true)
}

// end ends the test with one line if there is an error, like exec.test.abort.
func (i instance) end(err error) {
	if err == nil {
		return
	}
	i.vu.Runtime().Interrupt(&errext.InterruptError{Reason: fmt.Sprintf("%s: %s", errext.AbortTest, err)})
}
