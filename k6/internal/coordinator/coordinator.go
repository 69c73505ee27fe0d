// SPDX-License-Identifier: AGPL-3.0-only

// Package coordinator synchronizes the runners of one run. Runners are k6 processes that each make a part of the load.
// One of them sets up for all, all begin at the same time, one of them tears down after all, and the coordinator
// receives their records. It does not place or start runners. docs/how-to/runners.md describes the protocol.
package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"windtunnel/k6/internal/cpus"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

// Config configures a coordinator. All fields are required.
type Config struct {
	// Runners is the number of runners.
	Runners int
	// Token is a secret that each request must carry.
	Token string
	// Folder is the folder of the records, which are named NAME.runner-N.record.
	Folder, Name string
	// Patience is how long to wait for all runners to join.
	Patience time.Duration
	// Silence is the time without a sign of life after which a runner counts as dead.
	Silence time.Duration
	// Say receives errors and warnings, one line each.
	Say func(line string)
}

// startsIn is the delay between the last runner's readiness and the start of the load, so that all runners learn the
// start before it comes.
const startsIn = 400 * time.Millisecond

// Coordinator is safe for concurrent use.
type Coordinator struct {
	config Config
	begun  time.Time
	id     string // unique to this run

	mu      sync.Mutex
	changed chan struct{} // closed at each change, and replaced
	runners []*runner     // by number, from 1
	setUpBy int           // number of the runner that sets up, 0 before one does
	data    json.RawMessage
	start   time.Time // of the load; zero until all are ready
	stop    string    // why all runners must stop, "" if they need not
	cleaner int       // number of the runner that tears down, 0 before one does
	cleaned bool
	left    string // why the tear-down failed, "" if it did not
	whole   *whole // all samples, while a runner needs them
	cost    cost
}

// runner is the state of one runner; heard is the time of its last request.
type runner struct {
	number   int
	segment  string
	checksum string
	process  string
	heard    time.Time
	there    bool // has registered
	ready    bool
	loaded   bool
	record   string // file of its record, "" before it arrived
	sum      string // checksum of the record
	draft    string // file of its samples, if its record comes later
	bye      bool   // knows that its record arrived
	gone     string // why it ended, "" while it may continue
}

// over reports whether the runner's tear-down has ended, successfully or not, or will never come.
func (r *runner) over() bool { return r.gone != "" || r.record != "" || r.draft != "" }

// New returns a coordinator; its Patience begins now.
func New(config Config) *Coordinator {
	c := &Coordinator{config: config, begun: time.Now(), id: rand.Text(), changed: make(chan struct{})}
	for number := 1; number <= config.Runners; number++ {
		c.runners = append(c.runners, &runner{number: number})
	}
	return c
}

func (c *Coordinator) name(number int) string {
	return fmt.Sprintf("runner %d of %d", number, c.config.Runners)
}

// tell wakes all waiting requests. The caller holds mu.
func (c *Coordinator) tell() {
	c.noteCost()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await calls look, with mu held, until it is done, and returns its value.
func await[T any](ctx context.Context, c *Coordinator, look func() (T, bool)) (T, error) {
	for {
		c.mu.Lock()
		answer, done := look()
		changed := c.changed
		c.mu.Unlock()
		if done {
			return answer, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return answer, ctx.Err()
		}
	}
}

// Stop tells all runners to stop their load and to clean up; only the first reason is kept.
func (c *Coordinator) Stop(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopAll(why)
}

// stopAll is Stop with mu held. Runners that have not joined are no longer awaited.
func (c *Coordinator) stopAll(why string) {
	if c.stop != "" {
		return
	}
	c.stop = why
	for _, r := range c.runners {
		if !r.there && r.gone == "" {
			r.gone = "had not come when all were stopped"
		}
	}
	c.config.Say(why)
	c.tell()
}

// Gone marks a runner as ended, for example because its process ended. A runner whose record has arrived is not missed.
func (c *Coordinator) Gone(number int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number >= 1 && number <= len(c.runners) {
		c.goneNow(c.runners[number-1], why)
	}
}

// goneNow is Gone with mu held.
func (c *Coordinator) goneNow(r *runner, why string) {
	if r.gone != "" || r.record != "" {
		return
	}
	r.gone = why
	if err := c.dropDraft(r); err != nil {
		c.config.Say(err.Error())
	}
	if c.cleaner == r.number {
		c.cleaner = 0 // another runner may tear down
	}
	if !r.loaded {
		c.stopAll(fmt.Sprintf("%s %s: the others are stopped", c.name(r.number), why))
	} else if c.stop == "" {
		c.config.Say(c.name(r.number) + " " + why)
	}
	c.tell()
}

// Watch detects runners that do not join and runners that have died, until ctx is done.
func (c *Coordinator) Watch(ctx context.Context) {
	ticks := time.NewTicker(min(time.Second, c.config.Silence/4))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			c.look(time.Now())
		}
	}
}

func (c *Coordinator) look(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.runners {
		switch {
		case r.gone != "" || r.record != "":
		case !r.there && now.Sub(c.begun) > c.config.Patience:
			c.goneNow(r, fmt.Sprintf("did not come within %v", c.config.Patience))
		case r.there && now.Sub(r.heard) > c.config.Silence:
			c.goneNow(r, fmt.Sprintf("has not been heard of for %v", c.config.Silence))
		}
	}
}

// Wait returns when the record of each runner has arrived or can no longer arrive.
func (c *Coordinator) Wait(ctx context.Context) error {
	return c.until(ctx, func(r *runner) bool { return r.record != "" || r.gone != "" })
}

func (c *Coordinator) until(ctx context.Context, are func(*runner) bool) error {
	_, err := await(ctx, c, func() (struct{}, bool) { return struct{}{}, c.all(are) })
	return err
}

// Farewell returns when each runner knows that its record arrived, or ctx is done. A runner that missed the answer asks
// again, and would report a missing coordinator as dead.
func (c *Coordinator) Farewell(ctx context.Context) {
	_ = c.until(ctx, func(r *runner) bool { return r.record == "" || r.bye })
}

// Stopped is why all runners were stopped, "" if they were not.
func (c *Coordinator) Stopped() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop
}

// Unclean reports whether a set-up began and no tear-down succeeded: its objects may remain on the target.
func (c *Coordinator) Unclean() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setUpBy != 0 && (!c.cleaned || c.left != "")
}

// Left is why the tear-down failed, "" if it succeeded or did not run.
func (c *Coordinator) Left() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// Progress describes the progress of the run for the user.
func (c *Coordinator) Progress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := func(is func(*runner) bool) int { return seq.Count(c.runners, is) }
	of := c.config.Runners
	switch {
	case c.start.IsZero():
		return fmt.Sprintf("%d of %d runners are there, %d ready", count(func(r *runner) bool { return r.there }), of, count(func(r *runner) bool { return r.ready }))
	case count(func(r *runner) bool { return r.loaded || r.gone != "" }) < of:
		return fmt.Sprintf("load for %.0f s, %d of %d runners have ended theirs", time.Since(c.start).Seconds(), count(func(r *runner) bool { return r.loaded }), of)
	}
	return fmt.Sprintf("%d of %d records are there", count(func(r *runner) bool { return r.record != "" }), of)
}

// began is the start of this process, with the wall clock and the monotonic clock.
var began = time.Now()

// Steady is a clock without jumps: the wall clock at the start of this process, plus the monotonic time since then. If
// NTP sets the wall clock during the run, the start of the load does not move.
func Steady() time.Time { return began.Add(time.Since(began)) }

// Set is how far the wall clock, which reads wall now, has been set forward since this process began.
func Set(wall time.Time) time.Duration { return wall.Round(0).Sub(Steady().Round(0)) }

// cost is the CPU time of the coordinator's process, from the common start of the load until the last load ended.
type cost struct {
	begun        bool
	before, used float64 // seconds
	lasted       time.Duration
}

func (c *Coordinator) beginCost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cost.begun, c.cost.before = true, cpus.Used()
}

// noteCost takes the final CPU time when the last load has ended. The caller holds mu.
func (c *Coordinator) noteCost() {
	if c.cost.begun && c.cost.lasted == 0 && c.allLoaded() {
		c.cost.used, c.cost.lasted = cpus.Used()-c.cost.before, time.Since(c.start)
	}
}

// Cost is the CPU time of the coordinator's process during the load. program is the name of that process, which may also
// do other work. It is nil if no load began and ended.
func (c *Coordinator) Cost(program string) *run.Coordinator {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cost.lasted == 0 {
		return nil
	}
	return &run.Coordinator{Program: program, CPUS: c.cost.used, LoadS: c.cost.lasted.Seconds()}
}
