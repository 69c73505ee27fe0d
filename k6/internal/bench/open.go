// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"

	"windtunnel/k6/internal/children"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/sidecar"
)

// open prepares what all scenarios share: the watch for signals, the stream if the caller's variables ask for one, and the
// sidecar if it is needed. The error is the sidecar's, and everything else is open then, too. stop ends the watch.
func (b *session) open(needsSidecar bool, secrets, public []string) (ctx context.Context, stop func(), err error) {
	b.known = b.versions()
	b.interrupts, ctx, stop = children.Watch(b.Signals, func(line string) { b.screen.Error("%s", line) })
	b.openStream(ctx, secrets, public)
	if needsSidecar {
		b.sidecar, err = sidecar.Open(ctx, b.Sidecar, b.Root, run.Logs(b.Dir()), b.Confirmed(), b.Limits())
	}
	return ctx, stop, err
}
