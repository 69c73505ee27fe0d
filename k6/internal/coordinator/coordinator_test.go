// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/testsupport/busy"
)

const token = "0123456789abcdef"

// trial is a coordinator that serves, and what it said.
type trial struct {
	*Coordinator
	t      *testing.T
	url    string
	folder string
	mu     sync.Mutex
	lines  []string
}

func newTrial(t *testing.T, runners int, patience, silence time.Duration) *trial {
	t.Helper()
	tr := &trial{t: t, folder: t.TempDir()}
	tr.Coordinator = New(Config{Runners: runners, Token: token, Folder: tr.folder, Name: "pulsar-ingest", Patience: patience, Silence: silence,
		Say: func(line string) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.lines = append(tr.lines, line)
		}})
	server := httptest.NewServer(tr.Handler())
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go tr.Watch(ctx)
	tr.url = server.URL
	return tr
}

func (tr *trial) said() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.lines)
}

// client registers a runner.
func (tr *trial) client(number int) *Client {
	tr.t.Helper()
	c := &Client{URL: tr.url, Token: token}
	if _, err := c.Register(tr.t.Context(), Registration{Number: number, Of: len(tr.runners), Segment: "x", Checksum: "same"}); err != nil {
		tr.t.Fatal(err)
	}
	return c
}

func (tr *trial) clients() (all []*Client) {
	for number := range tr.runners {
		all = append(all, tr.client(number+1))
	}
	return all
}

// each calls do for all clients at once and returns the answers by number less one.
func each(t *testing.T, clients []*Client, do func(*Client) (Answer, error)) []Answer {
	t.Helper()
	answers := make([]Answer, len(clients))
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			answer, err := do(c)
			if err != nil {
				t.Error(err)
			}
			answers[i] = answer
		})
	}
	all.Wait()
	return answers
}

func ready(c *Client) (Answer, error) { return c.Ready(context.Background()) }

// setUp has one runner set up for all, and returns the answers.
func (tr *trial) setUp(clients []*Client) []Answer {
	return each(tr.t, clients, func(c *Client) (Answer, error) {
		told, err := c.SetUp(context.Background())
		if err == nil && told.Do {
			err = c.Made(context.Background(), json.RawMessage(`{"topics":["a"]}`))
		}
		return told, err
	})
}

// file is a record of a runner that made so many requests.
func file(t *testing.T, number, of, requests int, teardown bool) []byte {
	t.Helper()
	r := record.New()
	tags := map[string]string{"operation": "send"}
	for n := range requests {
		r.Series("operation_begun", metrics.Counter, tags).Add(1)
		r.Series("operation_failed", metrics.Rate, tags).Add(0)
		r.Series("operation_items", metrics.Counter, tags).Add(1)
		r.Series("operation_ms", metrics.Trend, tags).Add(float64(number*1000 + n))
		r.Series("operation_clock_ms", metrics.Gauge, tags).Add(float64(n))
	}
	evidence := judge.Evidence{Run: json.RawMessage(`{"id":"r","system":"pulsar","scenario":"ingest","profile":"smoke","start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:00:02Z"}`), LoadS: 2}
	evidence.Operations = []judge.Operation{{Name: "send", Title: "Send", Loop: "closed"}}
	evidence.Runner = &judge.Runner{Number: number, Of: of, Segment: "x", Teardown: teardown}
	text, err := json.Marshal(evidence)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Write(&out, text); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestARunFromTheFirstRunnerToTheVerdict(t *testing.T) {
	tr := newTrial(t, 3, time.Minute, time.Minute)
	clients := tr.clients()
	did := 0
	for _, told := range tr.setUp(clients) {
		if told.Do {
			did++
		} else if string(told.Data) != `{"topics":["a"]}` {
			t.Errorf("the data is %s", told.Data)
		}
	}
	starts := each(t, clients, ready)
	if tr.Cost("this test") != nil {
		t.Error("a load that has not begun has cost something")
	}
	time.Sleep(startsIn + 100*time.Millisecond)
	if did != 1 || starts[0].StartUnixMS == 0 || starts[1].StartUnixMS != starts[0].StartUnixMS || starts[2].StartUnixMS != starts[0].StartUnixMS {
		t.Errorf("%d set up; starts %v", did, starts)
	}
	cleaned := 0
	each(t, clients, func(c *Client) (Answer, error) {
		told, err := c.Loaded(context.Background(), "")
		if err == nil && told.Do {
			cleaned++ // one only: else the detector of races tells
			err = c.TornDown(context.Background(), "")
		}
		return told, err
	})
	if cleaned != 1 || tr.Unclean() {
		t.Errorf("%d cleaned up", cleaned)
	}
	for i, c := range clients {
		if err := c.Record(t.Context(), file(t, i+1, 3, 10, i == 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := tr.Judge()
	if err != nil || found.Operations[0].Requests != 30 || len(found.Runners) != 3 {
		t.Errorf("%+v %v", found, err)
	}
	if said := tr.said(); len(said) > 0 {
		t.Errorf("said %q", said)
	}
	cost := tr.Cost("this test")
	if cost == nil || cost.Program != "this test" || cost.LoadS <= 0 || cost.LoadS > 60 || cost.CPUS < 0 || cost.CPUS > 60 {
		t.Errorf("%+v", cost)
	}
}

func TestNothingIsMadeAndNobodyBeginsBeforeAllAreThere(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	first := tr.client(1)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if told, err := first.SetUp(ctx); err == nil {
		t.Errorf("told %+v while the other one is missing", told)
	}
	all := []*Client{first, tr.client(2)}
	tr.setUp(all)
	early, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if told, err := all[0].Ready(early); err == nil {
		t.Errorf("told %+v while the other one is not ready", told)
	}
}

func TestWhoMayNotComeIsToldWhyInOneLine(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	tr.client(1)
	for want, c := range map[string]struct {
		token string
		asked Registration
	}{
		"wrong token":                    {"another-token-123", Registration{Number: 2, Of: 2, Checksum: "same"}},
		"runner 1 of 2 is there already": {token, Registration{Number: 1, Of: 2, Checksum: "same"}},
		"one of 3, and the run has 2":    {token, Registration{Number: 2, Of: 3, Checksum: "same"}},
		"there is no runner 7 of 2":      {token, Registration{Number: 7, Of: 2, Checksum: "same"}},
	} {
		_, err := (&Client{URL: tr.url, Token: c.token}).Register(t.Context(), c.asked)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
	_, err := (&Client{URL: tr.url, Token: token}).Register(t.Context(), Registration{Number: 2, Of: 2, Checksum: "another"})
	if err == nil || !strings.Contains(err.Error(), "runner 1 of 2 and runner 2 of 2 have other scripts or options") || tr.Stopped() == "" {
		t.Errorf("%v", err)
	}
}

func TestACoordinatorThatWasStartedAgainDoesNotKnowItsRunners(t *testing.T) {
	before, after := newTrial(t, 1, time.Minute, time.Minute), newTrial(t, 1, time.Minute, time.Minute)
	c := before.client(1)
	c.URL = after.url
	if stop, err := c.Beat(t.Context()); err != nil || !strings.Contains(stop, "runner 1 has not registered with this coordinator") {
		t.Errorf("%q %v", stop, err)
	}
}

func TestARunnerThatDoesNotComeEndsTheOthers(t *testing.T) {
	wait := busy.Patient(200 * time.Millisecond)
	tr := newTrial(t, 2, wait, time.Minute)
	told, err := tr.client(1).SetUp(t.Context())
	if err != nil || !strings.Contains(told.Stop, fmt.Sprintf("runner 2 of 2 did not come within %v", wait)) {
		t.Errorf("%+v %v", told, err)
	}
}

func TestARunnerThatDiesIsNamedAndEndsTheOthers(t *testing.T) {
	silence := busy.Patient(400 * time.Millisecond)
	tr := newTrial(t, 2, time.Minute, silence)
	clients := tr.clients()
	tr.setUp(clients)
	each(t, clients, ready)
	alive := time.NewTicker(50 * time.Millisecond)
	defer alive.Stop()
	stop := ""
	for waits := busy.Patience(20 * time.Second); stop == "" && waits(); <-alive.C {
		stop, _ = clients[0].Beat(t.Context())
	}
	if !strings.Contains(stop, fmt.Sprintf("runner 2 of 2 has not been heard of for %v", silence)) {
		t.Fatalf("told %q", stop)
	}
	if told, err := clients[0].Loaded(t.Context(), ""); err != nil || !told.Do {
		t.Fatalf("nobody cleans up: %+v %v", told, err)
	}
	if err := clients[0].TornDown(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := clients[0].Record(t.Context(), file(t, 1, 2, 10, true)); err != nil {
		t.Fatal(err)
	}
	if err := tr.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := tr.Judge()
	if err != nil || found.Verdict == "pass" || !strings.Contains(found.Runners[1].Detail, "has not been heard of") {
		t.Errorf("%s %+v %v", found.Verdict, found.Runners, err)
	}
	if err := clients[1].Record(t.Context(), file(t, 2, 2, 10, false)); err == nil || !strings.Contains(err.Error(), "counts as gone") {
		t.Errorf("one that was given up came back: %v", err)
	}
}

func TestAnotherRunnerCleansUpWhereTheFirstDies(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	clients := tr.clients()
	first := slices.IndexFunc(tr.setUp(clients), func(a Answer) bool { return a.Do })
	each(t, clients, ready)
	answers := make(chan Answer, 2)
	for _, c := range clients {
		go func() {
			told, _ := c.Loaded(context.Background(), "")
			answers <- told
		}()
	}
	if told := <-answers; !told.Do {
		t.Fatalf("%+v", told)
	}
	tr.Gone(first+1, "was killed")
	if told := <-answers; !told.Do {
		t.Fatalf("nobody cleans up: %+v", told)
	}
	if err := clients[1-first].TornDown(t.Context(), ""); err != nil || tr.Unclean() {
		t.Errorf("%v", err)
	}
}

func TestWhoEndsEarlyEndsAll(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	clients := tr.clients()
	tr.setUp(clients)
	each(t, clients, ready)
	go func() { _, _ = clients[1].Loaded(context.Background(), "its load ended before its time") }()
	stop := ""
	for waits := busy.Patience(20 * time.Second); stop == "" && waits(); time.Sleep(10 * time.Millisecond) {
		stop, _ = clients[0].Beat(t.Context())
	}
	if stop != "runner 2 of 2: its load ended before its time: all are stopped" {
		t.Errorf("told %q", stop)
	}
}

func TestARecordIsTakenOnceAndWhole(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	clients := tr.clients()
	whole := file(t, 1, 2, 10, true)
	if err := tr.take(1, "0000", bytes.NewReader(whole)); err == nil || !strings.Contains(err.Error(), "damaged on its way") {
		t.Errorf("a damaged one: %v", err)
	}
	if err := clients[0].Record(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if err := clients[0].Record(t.Context(), whole); err != nil {
		t.Errorf("the same again, since no answer came: %v", err)
	}
	if err := clients[0].Record(t.Context(), file(t, 1, 2, 11, true)); err == nil || !strings.Contains(err.Error(), "another record of runner 1 of 2 is there already") {
		t.Errorf("another one: %v", err)
	}
	waited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	tr.Farewell(waited)
	if waited.Err() == nil {
		t.Error("the runner does not know yet that its record was taken")
	}
	if err := clients[0].Bye(t.Context()); err != nil {
		t.Fatal(err)
	}
	known, cancelKnown := busy.Context(t.Context(), 20*time.Second)
	defer cancelKnown()
	tr.Farewell(known)
	if known.Err() != nil {
		t.Error("the runner knows, and nobody else has a record")
	}
	if left, _ := os.ReadDir(tr.folder); len(left) != 1 || left[0].Name() != "pulsar-ingest.runner-1.record" {
		t.Errorf("%v", left)
	}
}

func TestTheRunnerThatTearsDownIsToldTheFiguresOfAll(t *testing.T) {
	tr := newTrial(t, 2, time.Minute, time.Minute)
	clients := tr.clients()
	drafted := make(chan error)
	own := file(t, 1, 2, 10, true)
	go func() { drafted <- clients[0].Draft(context.Background(), own) }()
	if err := clients[1].Record(t.Context(), file(t, 2, 2, 5, false)); err != nil {
		t.Fatal(err)
	}
	if err := <-drafted; err != nil {
		t.Fatal(err)
	}
	values, err := clients[0].Values(t.Context(), "operation_ms{operation:send}")
	if err != nil || values["count"] != 15 || values["min"] != 1000 || values["max"] != 2004 {
		t.Errorf("%v %v", values, err)
	}
	if none, err := clients[0].Values(t.Context(), "iterations"); err != nil || none != nil {
		t.Errorf("%v %v", none, err)
	}
	if err := clients[0].Record(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(tr.folder); len(left) != 2 {
		t.Errorf("a draft is left: %v", left)
	}
}

func TestClocksOfOneMachineAreTheSame(t *testing.T) {
	tr := newTrial(t, 1, time.Minute, time.Minute)
	c := tr.client(1)
	busy.Undisturbed(t, func(timely busy.Timely) {
		offset, err := c.Offset(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		timely(offset.Abs() <= time.Second, "the clocks differ by %v", offset)
	})
}

func TestNobodyAnswers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	c := &Client{URL: "http://127.0.0.1:1", Token: token}
	if _, err := c.Register(ctx, Registration{Number: 1, Of: 1}); err == nil {
		t.Error("registered with nobody")
	}
}

func TestACoordinatorThatHasBeenSilentForLongIsAskedOnce(t *testing.T) {
	c := &Client{URL: "http://127.0.0.1:1", Number: 1}
	long := time.Now().Add(-Deaf - time.Second)
	c.answered.Store(&long)
	busy.Undisturbed(t, func(timely busy.Timely) {
		begun := time.Now()
		if err := c.TornDown(t.Context(), ""); !errors.Is(err, ErrDeaf) {
			t.Fatal(err)
		}
		took := time.Since(begun)
		timely(took <= Deaf/2, "it took %v", took)
	})
	now := time.Now()
	c.answered.Store(&now)
	if c.Silent() {
		t.Error("it has answered just now")
	}
}
