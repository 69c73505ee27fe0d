// SPDX-License-Identifier: AGPL-3.0-only

// Package runner is the module k6/x/windtunnel/runner: with it a script is one of several runners of a run, where
// COORDINATOR_URL says so. lib/globals.d.ts has its types.
package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/grafana/sobek"
	"go.k6.io/k6/errext"
	"go.k6.io/k6/errext/exitcodes"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/jsvalue"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
)

// ImportPath is the module's name in scripts.
const ImportPath = "k6/x/windtunnel/runner"

func init() {
	modules.Register(ImportPath, Module{})
}

// Module makes an instance for each VU; all are of one process, and so of one runner.
type Module struct{}

// NewModuleInstance implements modules.Module.
func (Module) NewModuleInstance(vu modules.VU) modules.Instance {
	return instance{vu: vu, member: ofProcess()}
}

type instance struct {
	vu     modules.VU
	member *member // nil in a run of one
}

// Exports implements modules.Instance.
func (i instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{
		"many":        func() bool { return i.member != nil },
		"setsUp":      i.setsUp,
		"made":        i.made,
		"data":        i.data,
		"start":       i.start,
		"stopAll":     i.stopAll,
		"tearsDown":   i.tearsDown,
		"tornDown":    i.tornDown,
		"deliver":     i.deliver,
		"draft":       i.draft,
		"leave":       i.leave,
		"undelivered": i.undelivered,
	}}
}

// setsUp registers the runner, and waits until it is known who sets up; definition is the same text in all runners.
func (i instance) setsUp(definition string) bool {
	state := i.vu.State()
	if state == nil {
		i.throw(fmt.Errorf("setsUp() is for setup()"))
	}
	load, err := json.Marshal(state.Options.Scenarios)
	if err != nil {
		i.throw(err)
	}
	// Arguments of k6 run, such as --vus, take the place of what the script says of the load.
	does, err := i.member.setsUp(i.vu.Context(), definition+"\n"+string(load), state.Options.ExecutionSegment, state.Options.ExecutionSegmentSequence)
	i.end(err)
	return does
}

// made hands on what the set-up returned to the other runners.
func (i instance) made(data sobek.Value) sobek.Value {
	text, err := jsvalue.OutOf(i.vu.Runtime(), data)
	if err != nil {
		i.throw(err)
	}
	i.end(i.member.client.Made(i.vu.Context(), text))
	return data
}

// data is what the set-up returned that another runner made.
func (i instance) data() sobek.Value {
	given, err := jsvalue.Into(i.vu.Runtime(), json.RawMessage(i.member.data))
	if err != nil {
		i.throw(err)
	}
	return given
}

// start returns when the load of all runners is to begin.
func (i instance) start() { i.end(i.member.start(i.vu.Context())) }

// stopAll asks that all runners stop; it does not wait.
func (i instance) stopAll(why string) {
	if i.member != nil {
		i.member.stopAll(why)
	}
}

// tearsDown waits until the load of all has ended, and says whether this runner cleans up. Early is why its own load has ended
// before its time, "" where it has not.
func (i instance) tearsDown(early string) bool {
	does, err := i.member.tearsDown(i.vu.Context(), early)
	if why := i.member.stopped.Load(); why != nil {
		i.tell(*why)
	}
	i.tell(err)
	return does
}

// tornDown says that this runner has cleaned up, or why it could not.
func (i instance) tornDown(failed string) {
	i.tell(i.member.client.TornDown(i.vu.Context(), failed))
}

// deliver sends the runner's record with what the script saw beside it. ZeroUnixMS is the zero of the clock of its operations.
func (i instance) deliver(evidence sobek.Value, zeroUnixMS float64) {
	if err := i.member.deliver(i.recordOf(evidence, zeroUnixMS)); err != nil {
		i.throw(err)
	}
}

// undelivered ends this k6 from within handleSummary, whose exceptions k6 logs and ends with 0: a runner whose record is not with the
// coordinator has not done its part. All else of k6 has come to its end by then. One that was stopped by a signal ends so anyway.
func (i instance) undelivered(why string) {
	why = strings.TrimPrefix(why, ImportPath+": ")
	if !i.member.toldDeaf.Swap(true) || !strings.Contains(why, coordinator.ErrDeaf.Error()) {
		i.vu.State().Logger.Error(why)
	}
	i.member.leave("could not leave its record: " + why)
	if i.member.stopped.Load() == nil && !i.member.interrupted.Load() {
		exit(int(exitcodes.ExternalAbort))
	}
}

// exit ends this process.
var exit = os.Exit

// draft sends what deliver would, where this runner tore down, and returns metrics of all runners; null where it did not.
func (i instance) draft(evidence sobek.Value, zeroUnixMS float64, own *sobek.Object) sobek.Value {
	if !i.member.own.Teardown {
		return sobek.Null()
	}
	if err := i.member.client.Draft(i.vu.Context(), i.recordOf(evidence, zeroUnixMS)); err != nil {
		i.throw(err)
	}
	return i.vu.Runtime().NewDynamicObject(&whole{instance: i, own: own, known: map[string]sobek.Value{}})
}

// recordOf is the record's file.
func (i instance) recordOf(evidence sobek.Value, zeroUnixMS float64) []byte {
	text, err := jsvalue.OutOf(i.vu.Runtime(), evidence)
	if err != nil {
		i.throw(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var asked judge.Evidence
	if err := decoder.Decode(&asked); err != nil {
		i.throw(err)
	}
	plain, err := json.Marshal(i.member.evidence(asked, zeroUnixMS))
	if err != nil {
		i.throw(err)
	}
	var file bytes.Buffer
	if err := record.OfProcess.Write(&file, plain); err != nil {
		i.throw(err)
	}
	return file.Bytes()
}

// leave says that there will be no record of this runner.
func (i instance) leave(why string) { i.member.leave(why) }

// tell logs what went wrong; nil is nothing.
func (i instance) tell(err error) {
	if err != nil && !i.isTold(err) {
		i.vu.State().Logger.Error(err.Error())
	}
}

// isTold reports whether an error needs no line, since it had one: that the coordinator does not answer is told once.
func (i instance) isTold(err error) bool {
	return errors.Is(err, coordinator.ErrDeaf) && i.member.toldDeaf.Swap(true)
}

// throw makes an exception of the script of an error.
func (i instance) throw(err error) {
	common.Throw(i.vu.Runtime(), fmt.Errorf("%s: %w", ImportPath, err))
}

// end ends the test with one line where there is an error, as exec.test.abort does.
func (i instance) end(err error) {
	if err == nil {
		return
	}
	i.vu.Runtime().Interrupt(&errext.InterruptError{Reason: fmt.Sprintf("%s: %s", errext.AbortTest, err)})
}
