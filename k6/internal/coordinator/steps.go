// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// refusal is an answer other than 200: one line.
type refusal struct {
	status int
	line   string
}

func (r *refusal) Error() string { return r.line }

func conflict(format string, args ...any) error {
	return &refusal{http.StatusConflict, fmt.Sprintf(format, args...)}
}

// Registration is what a runner says first. Checksum is of its script and options.
type Registration struct {
	Number   int    `json:"number"`
	Of       int    `json:"of"`
	Segment  string `json:"segment"`
	Checksum string `json:"checksum"`
	// Process is another text in each process, so that one that asks again is known.
	Process string `json:"process"`
}

// register takes a runner in; each number once.
func (c *Coordinator) register(asked Registration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.Of != c.config.Runners {
		return conflict("a runner says that it is one of %d, and the run has %d: give as many execution segments as runners", asked.Of, c.config.Runners)
	}
	if asked.Number < 1 || asked.Number > c.config.Runners {
		return conflict("there is no runner %d of %d", asked.Number, c.config.Runners)
	}
	if c.stop != "" {
		return conflict("%s", c.stop)
	}
	r := c.runners[asked.Number-1]
	if r.there && asked.Process != "" && r.process == asked.Process {
		return nil // it asks again, since no answer came
	}
	if r.there {
		return conflict("%s is there already: two runners have the execution segment %s", c.name(r.number), r.segment)
	}
	for _, other := range c.runners {
		if other.there && other.checksum != asked.Checksum {
			why := fmt.Sprintf("%s and %s have other scripts or options", c.name(other.number), c.name(r.number))
			c.stopAll(why)
			return conflict("%s", why)
		}
	}
	r.there, r.segment, r.checksum, r.process, r.heard = true, asked.Segment, asked.Checksum, asked.Process, time.Now()
	c.tell()
	return nil
}

// known returns a runner that has registered here, and notes that it lives; mu held.
func (c *Coordinator) known(number int) (*runner, error) {
	if number < 1 || number > len(c.runners) || !c.runners[number-1].there {
		return nil, conflict("runner %d has not registered with this coordinator: was it started again?", number)
	}
	r := c.runners[number-1]
	if r.gone != "" {
		return nil, conflict("%s counts as gone: it %s", c.name(number), r.gone)
	}
	r.heard = time.Now()
	return r, nil
}

// of calls do with a runner that is there.
func (c *Coordinator) of(number int, do func(*runner) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.known(number)
	if err != nil {
		return err
	}
	return do(r)
}

// Answer is what a runner that waits is told: Stop why it is to end, or what it waited for. All empty: ask again.
type Answer struct {
	Stop string `json:"stop,omitempty"`
	// Do: this runner is to do it, set-up or tear-down.
	Do bool `json:"do,omitempty"`
	// Done: another one has done it.
	Done bool            `json:"done,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	// Together is of this run alone; it answers a registration.
	Together string `json:"together,omitempty"`
	// StartUnixMS is when the load begins, by the coordinator's clock.
	StartUnixMS float64 `json:"start_unix_ms,omitempty"`
}

// holdFor is how long a question is held open; then the runner asks again.
const holdFor = 5 * time.Second

// held waits for an answer; where there is none in time the runner is told to ask again.
func (c *Coordinator) held(ctx context.Context, number int, look func(*runner) (Answer, bool)) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, holdFor)
	defer cancel()
	var failed error
	answer, err := await(ctx, c, func() (Answer, bool) {
		r, err := c.known(number)
		if err != nil {
			failed = err
			return Answer{}, true
		}
		return look(r)
	})
	if err != nil { // it was held for long enough
		return Answer{}, nil
	}
	return answer, failed
}

// setUp tells the first runner that asks to set up, and all others what came of it.
func (c *Coordinator) setUp(ctx context.Context, number int) (Answer, error) {
	return c.held(ctx, number, func(r *runner) (Answer, bool) {
		switch {
		case c.stop != "":
			return Answer{Stop: c.stop}, true
		case c.data != nil:
			return Answer{Done: true, Data: c.data}, true
		case c.setUpBy == 0 && c.allThere():
			c.setUpBy = r.number
		}
		// Also where it asks again, since no answer came.
		return Answer{Do: true}, c.setUpBy == r.number
	})
}

// allThere reports whether all have registered, mu held: nothing is made on the target before.
func (c *Coordinator) allThere() bool {
	for _, r := range c.runners {
		if !r.there {
			return false
		}
	}
	return true
}

// made takes what the set-up returned; the same again is no other, since its sender had no answer.
func (c *Coordinator) made(number int, data json.RawMessage) error {
	return c.of(number, func(r *runner) error {
		if c.setUpBy != r.number || c.data != nil && !bytes.Equal(c.data, data) {
			return conflict("%s was not asked to set up", c.name(number))
		}
		c.data = data
		c.tell()
		return nil
	})
}

// ready is the barrier: it answers once all are ready, and none before.
func (c *Coordinator) ready(ctx context.Context, number int) (Answer, error) {
	return c.held(ctx, number, func(r *runner) (Answer, bool) {
		if !r.ready {
			r.ready = true
			c.beginOnceReady()
		}
		switch {
		case c.stop != "":
			return Answer{Stop: c.stop}, true
		case !c.start.IsZero():
			return Answer{StartUnixMS: unixMS(c.start)}, true
		}
		return Answer{}, false
	})
}

// beginOnceReady names the start of the load, mu held.
func (c *Coordinator) beginOnceReady() {
	for _, r := range c.runners {
		if !r.ready {
			return
		}
	}
	if c.start.IsZero() && c.stop == "" {
		c.start = Steady().Add(startsIn)
		time.AfterFunc(startsIn, c.beginCost)
		c.tell()
	}
}

func unixMS(at time.Time) float64 { return float64(at.UnixNano()) / 1e6 }

// beat is a sign of life; it tells why to stop, where that is so.
func (c *Coordinator) beat(number int) (answer Answer, err error) {
	err = c.of(number, func(*runner) error {
		answer.Stop = c.stop
		return nil
	})
	return answer, err
}

// loaded says that a runner's load has ended: before its time where early says why. It answers once that of all has, and tells
// one of them to tear down; where that one dies, another.
func (c *Coordinator) loaded(ctx context.Context, number int, early string) (Answer, error) {
	return c.held(ctx, number, func(r *runner) (Answer, bool) {
		if !r.loaded {
			r.loaded = true
			if early != "" {
				c.stopAll(fmt.Sprintf("%s: %s: all are stopped", c.name(r.number), early))
			}
			c.tell()
		}
		switch {
		case c.cleaned:
			return Answer{Done: true}, true
		case c.cleaner == 0 && c.allLoaded():
			c.cleaner = c.preferred(r.number)
			c.tell()
		}
		return Answer{Do: true}, c.cleaner == r.number
	})
}

// allLoaded reports whether no load goes on, mu held.
func (c *Coordinator) allLoaded() bool {
	for _, r := range c.runners {
		if !r.loaded && !r.over() {
			return false
		}
	}
	return true
}

// preferred is the runner that set up, where it still is there, else the one that asks; mu held.
func (c *Coordinator) preferred(asking int) int {
	if c.setUpBy != 0 && !c.runners[c.setUpBy-1].over() {
		return c.setUpBy
	}
	return asking
}

// tornDown says that the tear-down has come to its end, and why it failed, "" where it did not.
func (c *Coordinator) tornDown(number int, failed string) error {
	return c.of(number, func(r *runner) error {
		if c.cleaner != r.number {
			return conflict("%s was not asked to tear down", c.name(number))
		}
		if failed != "" && !c.cleaned {
			c.left = fmt.Sprintf("%s could not clean up: %s", c.name(number), failed)
			c.config.Say(c.left)
		}
		c.cleaned = true
		c.tell()
		return nil
	})
}

// bye says that a runner knows that its record was taken: it asks no more.
func (c *Coordinator) bye(number int) error {
	return c.of(number, func(r *runner) error {
		r.bye = true
		c.tell()
		return nil
	})
}

// leave says that a runner ends without a record.
func (c *Coordinator) leave(number int, why string) error {
	return c.of(number, func(r *runner) error {
		c.goneNow(r, why)
		return nil
	})
}
