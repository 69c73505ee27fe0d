// SPDX-License-Identifier: AGPL-3.0-only

package runner

import (
	"errors"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"go.k6.io/k6/js/modulestest"
	"go.k6.io/k6/lib"

	"windtunnel/k6/internal/coordinator"
)

// k6 ends with 0 where handleSummary throws.
func TestARunnerWhoseRecordIsNotTakenDoesNotEndWithZero(t *testing.T) {
	for about, c := range map[string]struct {
		why                string
		toldDeaf, stopped  bool
		interrupted        bool
		wantExit, wantLine bool
	}{
		"refused":                 {why: "the coordinator cannot keep a record: no space left on device", wantExit: true, wantLine: true},
		"nobody answers":          {why: coordinator.ErrDeaf.Error() + ": EOF", wantExit: true, wantLine: true},
		"that was told already":   {why: coordinator.ErrDeaf.Error() + ": EOF", toldDeaf: true, wantExit: true},
		"refused, and deaf since": {why: "refused", toldDeaf: true, wantExit: true, wantLine: true},
		// k6 ends with 105 by itself then.
		"stopped by the coordinator": {why: "refused", stopped: true, wantLine: true},
		"interrupted":                {why: "refused", interrupted: true, wantLine: true},
	} {
		m, keeper, _ := memberOf(t, 1)
		if does, err := m.setsUp(t.Context(), "definition", nil, nil); err != nil || !does {
			t.Fatal(does, err)
		}
		m.toldDeaf.Store(c.toldDeaf)
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
		instance{vu: runtime.VU, member: m}.undelivered(c.why)
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
