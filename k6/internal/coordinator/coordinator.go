// SPDX-License-Identifier: AGPL-3.0-only

// Package coordinator keeps the runners of one run together: k6 processes of which each makes a part of the load. One of them
// sets up for all, all begin at one time, one of them tears down after all, and their records come here. It places and starts
// no runners: whoever starts it does. docs/how-to/runners.md describes what they say to each other.
package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Config is what a coordinator is told. All of it must be given.
type Config struct {
	// Runners is how many there are.
	Runners int
	// Token is what each request must carry: a secret.
	Token string
	// Folder is where the records go, as NAME.runner-N.record.
	Folder, Name string
	// Patience is how long it waits until all runners are there.
	Patience time.Duration
	// Silence is after how long without a sign of life a runner counts as dead.
	Silence time.Duration
	// Say is told what goes wrong, a line each.
	Say func(line string)
}

// startsIn is how long after the last runner is ready the load begins, so that all hear of it before.
const startsIn = 400 * time.Millisecond

// Coordinator is safe for concurrent use.
type Coordinator struct {
	config Config
	begun  time.Time
	id     string // of this run, another one in each

	mu      sync.Mutex
	changed chan struct{} // closed at each change, and replaced
	runners []*runner     // by number, from 1 on
	setUpBy int           // the runner that sets up, 0 before one does
	data    json.RawMessage
	start   time.Time // of the load; zero before all are ready
	stop    string    // why all are to stop, "" while they are not
	cleaner int       // the runner that tears down, 0 before one does
	cleaned bool
	left    string // why the one who tore down could not, "" where it could
	whole   *whole // all samples, while somebody asks for them
	cost    cost
}

// runner is what is known of one; heard is when it was last heard of.
type runner struct {
	number   int
	segment  string
	checksum string
	process  string
	heard    time.Time
	there    bool // it has registered
	ready    bool
	loaded   bool
	record   string // the file, "" before it came
	sum      string // of the record
	draft    string // the file of its samples, where its record comes later
	bye      bool   // it knows that its record came
	gone     string // why there will be no more of it, "" while there may be
}

// over reports whether its tear-down is behind it, whatever came of that, or will never come.
func (r *runner) over() bool { return r.gone != "" || r.record != "" || r.draft != "" }

// New makes a coordinator that waits for its runners from now on.
func New(config Config) *Coordinator {
	c := &Coordinator{config: config, begun: time.Now(), id: rand.Text(), changed: make(chan struct{})}
	for number := 1; number <= config.Runners; number++ {
		c.runners = append(c.runners, &runner{number: number})
	}
	return c
}

// name is what messages call a runner.
func (c *Coordinator) name(number int) string {
	return fmt.Sprintf("runner %d of %d", number, c.config.Runners)
}

// tell lets all that wait look again, mu held.
func (c *Coordinator) tell() {
	c.noteCost()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns what look returns once it says that it is done; look is called with mu held.
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

// Stop tells all runners to stop their load and to clean up; the first reason stays.
func (c *Coordinator) Stop(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopAll(why)
}

// stopAll is Stop, mu held. Nobody waits any more for those who are not there.
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

// Gone says that there will be no more of a runner, and why: its process has ended, say. One whose record has come is not missed.
func (c *Coordinator) Gone(number int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number >= 1 && number <= len(c.runners) {
		c.goneNow(c.runners[number-1], why)
	}
}

// goneNow is Gone, mu held.
func (c *Coordinator) goneNow(r *runner, why string) {
	if r.gone != "" || r.record != "" {
		return
	}
	r.gone = why
	if err := c.dropDraft(r); err != nil {
		c.config.Say(err.Error())
	}
	if c.cleaner == r.number {
		c.cleaner = 0 // another one may
	}
	if !r.loaded {
		c.stopAll(fmt.Sprintf("%s %s: the others are stopped", c.name(r.number), why))
	} else if c.stop == "" {
		c.config.Say(c.name(r.number) + " " + why)
	}
	c.tell()
}

// Watch finds runners that do not come and those that have died, until ctx is done.
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

// Wait returns once the record of each runner has come, or never will.
func (c *Coordinator) Wait(ctx context.Context) error {
	_, err := await(ctx, c, func() (struct{}, bool) {
		for _, r := range c.runners {
			if r.record == "" && r.gone == "" {
				return struct{}{}, false
			}
		}
		return struct{}{}, true
	})
	return err
}

// Farewell returns once each runner whose record came knows that, or ctx is done: one whose answer was lost on its way asks again,
// and would take a coordinator that is no more for dead.
func (c *Coordinator) Farewell(ctx context.Context) {
	_, _ = await(ctx, c, func() (struct{}, bool) {
		for _, r := range c.runners {
			if r.record != "" && !r.bye {
				return struct{}{}, false
			}
		}
		return struct{}{}, true
	})
}

// Stopped is why all were stopped, "" where they were not.
func (c *Coordinator) Stopped() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop
}

// Unclean reports whether a set-up was begun and no tear-down has come to a good end: what was made may be left on the target.
func (c *Coordinator) Unclean() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setUpBy != 0 && (!c.cleaned || c.left != "")
}

// Left is why the runner that tore down could not, "" where it could or none did.
func (c *Coordinator) Left() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// Progress is how far the run is, for people.
func (c *Coordinator) Progress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := func(is func(*runner) bool) (n int) {
		for _, r := range c.runners {
			if is(r) {
				n++
			}
		}
		return n
	}
	of := c.config.Runners
	switch {
	case c.start.IsZero():
		return fmt.Sprintf("%d of %d runners are there, %d ready", count(func(r *runner) bool { return r.there }), of, count(func(r *runner) bool { return r.ready }))
	case count(func(r *runner) bool { return r.loaded || r.gone != "" }) < of:
		return fmt.Sprintf("load for %.0f s, %d of %d runners have ended theirs", time.Since(c.start).Seconds(), count(func(r *runner) bool { return r.loaded }), of)
	}
	return fmt.Sprintf("%d of %d records are there", count(func(r *runner) bool { return r.record != "" }), of)
}
