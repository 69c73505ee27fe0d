// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"context"
	"os"

	"windtunnel/k6/internal/children"
)

// interrupts is the effect of signals: the first signal stops the load and keeps the data so far, the second ends the
// run at once.
type interrupts struct {
	stop, hurry context.Context
}

// watch follows signals until done is called.
func watch(signals <-chan os.Signal, say func(format string, args ...any)) (i interrupts, done func()) {
	stop, stopped := context.WithCancel(context.Background())
	hurry, hurried := context.WithCancel(context.Background())
	over := children.OnSignal(signals, func(count int) {
		if count > 1 {
			hurried()
			return
		}
		say("interrupted: the runners clean up, and their results so far are judged; interrupt again to remove everything at once")
		stopped()
	})
	return interrupts{stop, hurry}, func() {
		over()
		stopped()
		hurried()
	}
}

// any reports whether a signal arrived.
func (i interrupts) any() bool { return i.stop.Err() != nil }
