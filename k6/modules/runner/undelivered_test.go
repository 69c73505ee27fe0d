// SPDX-License-Identifier: AGPL-3.0-only

package runner

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"go.k6.io/k6/js/modulestest"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/executor"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/testsupport/busy"
)

// k6 exits with 0 if handleSummary throws.
func TestARunnerWhoseRecordIsNotTakenDoesNotEndWithZero(t *testing.T) {
	for about, c := range map[string]struct {
		why                 string
		loggedDeaf, stopped bool
		interrupted         bool
		wantExit, wantLine  bool
	}{
		"refused":                 {why: "the coordinator cannot keep a record: no space left on device", wantExit: true, wantLine: true},
		"nobody answers":          {why: coordinator.ErrDeaf.Error() + ": EOF", wantExit: true, wantLine: true},
		"that was told already":   {why: coordinator.ErrDeaf.Error() + ": EOF", loggedDeaf: true, wantExit: true},
		"refused, and deaf since": {why: "refused", loggedDeaf: true, wantExit: true, wantLine: true},
		// k6 then exits with 105 anyway.
		"stopped by the coordinator": {why: "refused", stopped: true, wantLine: true},
		"interrupted":                {why: "refused", interrupted: true, wantLine: true},
	} {
		m, keeper, _ := memberOf(t, 1)
		if does, err := m.setsUp(t.Context(), "definition", nil, nil); err != nil || !does {
			t.Fatal(does, err)
		}
		m.loggedDeaf.Store(c.loggedDeaf)
		m.interrupted.Store(c.interrupted)
		if c.stopped {
			why := errors.New("stopped")
			m.stopped.Store(&why)
		}
		logger, lines := logtest.NewNullLogger()
		runtime := modulestest.NewRuntime(t)
		runtime.MoveToVUContext(&lib.State{Logger: logger})
		code := 0
		exit = func(with int) { code = with }
		instance{vu: runtime.VU, member: m}.undelivered(ImportPath + ": " + c.why)
		if (code == 105) != c.wantExit || code != 0 && code != 105 {
			t.Errorf("%s: ends with %d", about, code)
		}
		said := lines.AllEntries()
		if len(said) > 1 || (len(said) == 1) != c.wantLine || c.wantLine && (said[0].Level != logrus.ErrorLevel || said[0].Message != c.why) {
			t.Errorf("%s: said %v", about, said)
		}
		if _, lost := keeper.Records(); !strings.Contains(lost[1], "could not leave its record: "+c.why) {
			t.Errorf("%s: the coordinator knows %q", about, lost[1])
		}
	}
}

// An argument of k6 run, such as --vus, overrides the script's load.
func TestRunnersOfOtherLoadsAreNoRunnersOfOneRun(t *testing.T) {
	first, keeper, url := memberOf(t, 2)
	second := &member{client: coordinator.Client{URL: url, Token: token}, over: make(chan struct{})}
	t.Cleanup(second.end)
	sequence, err := lib.NewExecutionSegmentSequenceFromString("0,1/2,1")
	if err != nil {
		t.Fatal(err)
	}
	registers := func(m *member, number int, clients int64) {
		runtime := modulestest.NewRuntime(t)
		logger, _ := logtest.NewNullLogger()
		load := executor.NewPerVUIterationsConfig("closed")
		load.VUs.Int64, load.VUs.Valid = clients, true
		runtime.MoveToVUContext(&lib.State{Logger: logger, Options: lib.Options{
			Scenarios: lib.ScenarioConfigs{"closed": load}, ExecutionSegment: sequence[number-1], ExecutionSegmentSequence: &sequence}})
		go instance{vu: runtime.VU, member: m}.setsUp("definition") // it is stopped in the end
	}
	registers(first, 1, 4)
	for keeper.Progress() != "1 of 2 runners are there, 0 ready" {
		time.Sleep(time.Millisecond)
	}
	registers(second, 2, 5)
	busy.Until(20*time.Second, func() bool { return keeper.Stopped() != "" })
	if why := keeper.Stopped(); why != "runner 1 of 2 and runner 2 of 2 have other scripts or options" {
		t.Errorf("%q", why)
	}
}
