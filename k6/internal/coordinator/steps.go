// SPDX-License-Identifier: AGPL-3.0-only

package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// refusal is an answer with a status other than 200: one line.
type refusal struct {
	status int
	line   string
}

func (r *refusal) Error() string { return r.line }

func conflict(format string, args ...any) error {
	return &refusal{http.StatusConflict, fmt.Sprintf(format, args...)}
}

// Registration is a runner's first request. Checksum is the checksum of its script and options.
type Registration struct {
	Number   int    `json:"number"`
	Of       int    `json:"of"`
	Segment  string `json:"segment"`
	Checksum string `json:"checksum"`
	// Process is unique to each process, so that a repeated registration is recognized.
	Process string `json:"process"`
}

// register adds a runner; each number can register once.
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
		return nil // a repetition, because the runner got no answer
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

// known returns a registered runner, and notes that it is alive. The caller holds mu.
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

// of calls do with a registered runner.
func (c *Coordinator) of(number int, do func(*runner) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.known(number)
	if err != nil {
		return err
	}
	return do(r)
}

// Answer is the answer to a waiting runner: Stop has the reason to stop, the other fields have the awaited data. An
// empty answer means: ask again.
type Answer struct {
	Stop string `json:"stop,omitempty"`
	// Do says that this runner does the set-up or the tear-down.
	Do bool `json:"do,omitempty"`
	// Done says that another runner has done it.
	Done bool            `json:"done,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	// Together is the run's unique identifier; it answers a registration.
	Together string `json:"together,omitempty"`
	// StartUnixMS is the start of the load, by the coordinator's clock.
	StartUnixMS float64 `json:"start_unix_ms,omitempty"`
}

// holdFor is how long a request is held open; then the runner asks again.
const holdFor = 5 * time.Second

// held waits for an answer; after holdFor it returns an empty answer.
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
	if err != nil { // holdFor has passed
		return Answer{}, nil
	}
	return answer, failed
}

// setUp tells the first runner that asks to set up, and gives all others the result.
func (c *Coordinator) setUp(ctx context.Context, number int) (Answer, error) {
	return c.held(ctx, number, func(r *runner) (Answer, bool) {
		switch {
		case c.stop != "":
			return Answer{Stop: c.stop}, true
		case c.data != nil:
			return Answer{Done: true, Data: c.data}, true
		case c.setUpBy == 0 && c.all(func(r *runner) bool { return r.there }):
			c.setUpBy = r.number
		}
		// A runner asks again if it got no answer.
		return Answer{Do: true}, c.setUpBy == r.number
	})
}

// all reports whether all runners are in a state. The caller holds mu.
func (c *Coordinator) all(are func(*runner) bool) bool {
	return !slices.ContainsFunc(c.runners, func(r *runner) bool { return !are(r) })
}

// made stores the result of the set-up. The same result may arrive again, if its sender got no answer.
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

// ready is the barrier: it answers when all runners are ready.
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

// beginOnceReady sets the start of the load. The caller holds mu.
func (c *Coordinator) beginOnceReady() {
	if c.start.IsZero() && c.stop == "" && c.all(func(r *runner) bool { return r.ready }) {
		c.start = Steady().Add(startsIn)
		time.AfterFunc(startsIn, c.beginCost)
		c.tell()
	}
}

func unixMS(at time.Time) float64 { return float64(at.UnixNano()) / 1e6 }

// beat handles a sign of life; it answers with the reason to stop, if there is one.
func (c *Coordinator) beat(number int) (answer Answer, err error) {
	err = c.of(number, func(*runner) error {
		answer.Stop = c.stop
		return nil
	})
	return answer, err
}

// loaded notes the end of a runner's load; early says why it ended too early. It answers when all loads have ended, and
// tells one runner to tear down. If that runner dies, another one gets the task.
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

// allLoaded reports whether all loads have ended. The caller holds mu.
func (c *Coordinator) allLoaded() bool {
	return c.all(func(r *runner) bool { return r.loaded || r.over() })
}

// preferred is the runner that set up if it is still alive, else the asking runner. The caller holds mu.
func (c *Coordinator) preferred(asking int) int {
	if c.setUpBy != 0 && !c.runners[c.setUpBy-1].over() {
		return c.setUpBy
	}
	return asking
}

// tornDown notes the end of the tear-down; failed says why it failed, "" if it did not.
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

// bye notes that a runner knows that its record arrived: it sends no more requests.
func (c *Coordinator) bye(number int) error {
	return c.of(number, func(r *runner) error {
		r.bye = true
		c.tell()
		return nil
	})
}

func (c *Coordinator) withdraw(number int, why string) error {
	return c.of(number, func(r *runner) error {
		c.goneNow(r, why)
		return nil
	})
}
