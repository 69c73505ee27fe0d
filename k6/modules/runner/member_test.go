// SPDX-License-Identifier: AGPL-3.0-only

package runner

import (
	"net/http/httptest"
	"testing"
	"time"

	"go.k6.io/k6/lib"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/testsupport/busy"
)

const token = "0123456789abcdef"

// memberOf is a runner of a separate coordinator with the given number of runners.
func memberOf(t *testing.T, runners int) (*member, *coordinator.Coordinator, string) {
	keeper := coordinator.New(coordinator.Config{Runners: runners, Token: token, Folder: t.TempDir(), Name: "x",
		Patience: time.Minute, Silence: time.Minute, Say: func(string) {}})
	server := httptest.NewServer(keeper.Handler())
	t.Cleanup(server.Close)
	m := &member{client: coordinator.Client{URL: server.URL, Token: token}, over: make(chan struct{})}
	t.Cleanup(m.end)
	return m, keeper, server.URL
}

// k6's test continues while teardown() waits for other runners: by its time a load that was cut short looks complete,
// and a busy generator looks idle.
func TestALoadLastsUntilTearDownWhereNoSidecarSawIt(t *testing.T) {
	busy.Undisturbed(t, func(timely busy.Timely) {
		m, _, _ := memberOf(t, 1)
		if does, err := m.setsUp(t.Context(), "definition", nil, nil); err != nil || !does {
			t.Fatal(does, err)
		}
		if err := m.client.Made(t.Context(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if err := m.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if does, err := m.tearsDown(t.Context(), ""); err != nil || !does {
			t.Fatal(does, err)
		}
		most := time.Since(began).Seconds() + 1
		if seen := m.evidence(judge.Evidence{LoadS: 1000}, 0); seen.LoadS <= 0 || seen.Runner == nil || !seen.Runner.Teardown {
			t.Errorf("%+v", seen)
		} else {
			timely(seen.LoadS <= most, "%v s, at most %v", seen.LoadS, most)
		}
		if seen := m.evidence(judge.Evidence{LoadS: 1000, Usage: &judge.Usage{}}, 0); seen.LoadS != 1000 {
			t.Errorf("%v s, and a sidecar saw 1000", seen.LoadS)
		}
	})
}

// For example, NTP sets a clock during a long set-up.
func TestAClockThatIsSetInMidRunMovesNoStart(t *testing.T) {
	wall = func() time.Time { return time.Now().Add(time.Hour) }
	defer func() { wall = time.Now }()
	busy.Undisturbed(t, func(timely busy.Timely) {
		m, _, _ := memberOf(t, 1)
		if does, err := m.setsUp(t.Context(), "definition", nil, nil); err != nil || !does {
			t.Fatal(does, err)
		}
		if err := m.client.Made(t.Context(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := m.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		timely(took <= 20*time.Second, "it took %v", took)
		// The script reads its zero off the clock that was set: the record must set it back.
		own := m.facts(0)
		if own.StartOffsetMS < 0 {
			t.Errorf("%+v", own)
		}
		back := own.ClockOffsetMS + 3_600_000
		timely(back >= -1000 && back <= 1000 && own.StartOffsetMS <= 1000, "%+v", own)
	})
}

// One runner would make the first half of the load, the other all but its first quarter.
func TestRunnersOfOtherSequencesAreNoRunnersOfOneRun(t *testing.T) {
	m, keeper, url := memberOf(t, 2)
	other := &member{client: coordinator.Client{URL: url, Token: token}, over: make(chan struct{})}
	t.Cleanup(other.end)
	segments := func(text string) *lib.ExecutionSegmentSequence {
		sequence, err := lib.NewExecutionSegmentSequenceFromString(text)
		if err != nil {
			t.Fatal(err)
		}
		return &sequence
	}
	halves, quarter := segments("0,1/2,1"), segments("0,1/4,1")
	ctx, cancel := busy.Context(t.Context(), 20*time.Second)
	defer cancel()
	told := make(chan error, 1)
	go func() {
		_, err := m.setsUp(ctx, "definition", (*halves)[0], halves)
		told <- err
	}()
	for keeper.Progress() != "1 of 2 runners are there, 0 ready" {
		time.Sleep(time.Millisecond)
	}
	if _, err := other.setsUp(ctx, "definition", (*quarter)[1], quarter); err == nil {
		t.Error("an overlapping part of the load was taken")
	}
	if err := <-told; err == nil || ctx.Err() != nil {
		t.Error("the first one was not told")
	}
}
