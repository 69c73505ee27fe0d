// SPDX-License-Identifier: AGPL-3.0-only

package busy

import (
	"context"
	"sync/atomic"
	"time"
)

// steps take limits.UsualMS on an idle machine of 2024.
const steps = 20_000_000

// slowness is the time that a fixed computation takes, by what it usually takes: it waits for a CPU, too. It is at least 1.
func slowness() float64 {
	began := time.Now()
	state := uint32(1)
	for range steps {
		state = state*1_664_525 + 1_013_904_223
	}
	took := time.Since(began)
	if state == 0 {
		took++ // so that the computation has a use
	}
	l := written()
	return min(l.MostSlowness, max(1, took.Seconds()*1000/l.UsualMS))
}

// factor is as of the last measurement, a thousandfold; 0 before the first one.
var factor atomic.Int64

func measure() float64 {
	slow := slowness()
	factor.Store(int64(slow * 1000))
	return slow
}

func last() float64 {
	if factor.Load() == 0 {
		return measure()
	}
	return float64(factor.Load()) / 1000
}

// Patience is a wait, which grows where the machine is slow: it returns whether to go on waiting.
func Patience(limit time.Duration) func() bool { return patience(limit, time.Now, last(), measure) }

func patience(limit time.Duration, now func() time.Time, slow float64, measure func() float64) func() bool {
	began := now()
	waits := func() bool { return now().Sub(began) < seconds(limit.Seconds()*slow) }
	return func() bool {
		if waits() {
			return true
		}
		slow = max(slow, measure())
		return waits()
	}
}

// Patient is a limit that takes only a number, as long as the machine is slow.
func Patient(limit time.Duration) time.Duration { return seconds(limit.Seconds() * measure()) }

// Until waits until a condition holds, with Patience, and returns whether it did.
func Until(limit time.Duration, holds func() bool) bool {
	for waits := Patience(limit); waits(); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return holds()
}

// Context ends when Patience does.
func Context(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		defer cancel()
		for waits := Patience(limit); waits(); {
			select {
			case <-ctx.Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return ctx, cancel
}

// After returns a channel that is closed when Patience ends.
func After(ctx context.Context, limit time.Duration) <-chan struct{} {
	ended, _ := Context(ctx, limit) // its goroutine ends with it
	return ended.Done()
}
