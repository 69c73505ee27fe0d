// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// interrupts turns the bench's signals into a cancelled context and into signals for the k6 that
// runs: SIGINT for the first (k6 then stops gracefully, cleans up and writes what it has) and the
// second (k6 stops at once), SIGKILL from the third on.
type interrupts struct {
	mu     sync.Mutex
	count  int
	pid    int // of the running k6, 0 without one
	cancel context.CancelFunc
	say    func(string)
}

// watchInterrupts follows signals until stop is called.
func watchInterrupts(signals <-chan os.Signal, say func(string)) (i *interrupts, ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	i = &interrupts{cancel: cancel, say: say}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				i.signal()
			case <-done:
				return
			}
		}
	}()
	return i, ctx, func() { close(done); cancel() }
}

func (i *interrupts) signal() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	i.cancel()
	switch {
	case i.pid == 0 && i.count == 1:
		i.say("interrupted: stopping what was started")
	case i.count == 1:
		i.say("interrupted: k6 cleans up and writes what it has; once more stops it at once")
	case i.count == 2 && i.pid != 0:
		i.say("interrupted again: k6 stops at once")
	}
	i.forward()
}

// forward signals the running k6, mu held.
func (i *interrupts) forward() {
	if i.pid == 0 || i.count == 0 {
		return
	}
	signal := syscall.SIGINT
	if i.count > 2 {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-i.pid, signal)
}

// started names the k6 that runs; a signal that came before reaches it now.
func (i *interrupts) started(pid int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pid = pid
	i.forward()
}

// stop asks the running k6 to stop as the first interrupt does, without being one.
func (i *interrupts) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pid != 0 && i.count == 0 {
		_ = syscall.Kill(-i.pid, syscall.SIGINT)
	}
}

func (i *interrupts) ended() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pid = 0
}

// any reports whether there was a signal.
func (i *interrupts) any() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.count > 0
}
