// SPDX-License-Identifier: AGPL-3.0-only

package children

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// Interrupts turns the bench's signals into a cancelled context and into signals for the k6 that
// runs: SIGINT for the first (k6 then stops gracefully, cleans up and writes what it has) and the
// second (k6 stops at once), SIGKILL from the third on.
type Interrupts struct {
	mu     sync.Mutex
	count  int
	pid    int // of the running k6, 0 without one
	cancel context.CancelFunc
	say    func(string)
}

// Watch follows signals until stop is called.
func Watch(signals <-chan os.Signal, say func(string)) (i *Interrupts, ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	i = &Interrupts{cancel: cancel, say: say}
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

func (i *Interrupts) signal() {
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
func (i *Interrupts) forward() {
	if i.pid == 0 || i.count == 0 {
		return
	}
	signal := syscall.SIGINT
	if i.count > 2 {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-i.pid, signal)
}

// Started names the k6 that runs; a signal that came before reaches it now.
func (i *Interrupts) Started(pid int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pid = pid
	i.forward()
}

// Stop asks the running k6 to stop as the first interrupt does, without being one.
func (i *Interrupts) Stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pid != 0 && i.count == 0 {
		_ = syscall.Kill(-i.pid, syscall.SIGINT)
	}
}

// Ended says that the k6 of Started is no more.
func (i *Interrupts) Ended() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pid = 0
}

// Any reports whether there was a signal.
func (i *Interrupts) Any() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.count > 0
}
