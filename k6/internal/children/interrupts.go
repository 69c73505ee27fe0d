// SPDX-License-Identifier: AGPL-3.0-only

package children

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Interrupts turns the bench's signals into a cancelled context and into signals for each running k6. The first signal
// sends SIGINT: k6 stops gracefully, cleans up and writes its data. The second sends SIGINT again: k6 stops at once.
// From the third on it sends SIGKILL.
type Interrupts struct {
	mu     sync.Mutex
	count  int
	pids   []int // of the running k6 processes
	cancel context.CancelFunc
	say    func(string)
}

// Watch follows signals until stop is called.
func Watch(signals <-chan os.Signal, say func(string)) (i *Interrupts, ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	i = &Interrupts{cancel: cancel, say: say}
	done := OnSignal(signals, func(int) { i.signal() })
	return i, ctx, func() { done(); cancel() }
}

// OnSignal calls a function at each signal, with the number of signals so far, until stop is called.
func OnSignal(signals <-chan os.Signal, call func(count int)) (stop func()) {
	done := make(chan struct{})
	go func() {
		for count := 1; ; count++ {
			select {
			case <-signals:
				call(count)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// Every calls a function now and after each interval until stop is called, which waits for the end of the last call.
func Every(interval time.Duration, call func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			call()
			select {
			case <-ctx.Done():
			case <-time.After(interval):
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func (i *Interrupts) signal() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	i.cancel()
	switch {
	case len(i.pids) == 0 && i.count == 1:
		i.say("interrupted: stopping what was started")
	case i.count == 1:
		i.say("interrupted: k6 cleans up and writes what it has; once more stops it at once")
	case i.count == 2 && len(i.pids) > 0:
		i.say("interrupted again: k6 stops at once")
	}
	for _, pid := range i.pids {
		i.pass(pid)
	}
}

// pass signals one k6, by the number of signals so far. The caller holds mu.
func (i *Interrupts) pass(pid int) {
	if i.count == 0 {
		return
	}
	signal := syscall.SIGINT
	if i.count > 2 {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-pid, signal)
}

// Started registers a running k6; a signal that came earlier reaches it now.
func (i *Interrupts) Started(pid int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pids = append(i.pids, pid)
	i.pass(pid)
}

// Stop asks the running k6 processes to stop like the first interrupt, but does not count as an interrupt.
func (i *Interrupts) Stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.count > 0 {
		return
	}
	for _, pid := range i.pids {
		_ = syscall.Kill(-pid, syscall.SIGINT)
	}
}

// Ended removes a k6 that Started registered.
func (i *Interrupts) Ended(pid int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pids = slices.DeleteFunc(i.pids, func(known int) bool { return known == pid })
}

// Any reports whether a signal arrived.
func (i *Interrupts) Any() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.count > 0
}
