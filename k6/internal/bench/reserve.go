// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"path/filepath"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/neighbour"
	"windtunnel/k6/internal/run"
)

// Reserve chooses the id of the run, claims the host and makes the run's folder, unless an earlier call has done this.
// A new id contains what. The caller releases the claim at its end.
func (o *Options) Reserve(what string, warn func(format string, args ...any)) (held neighbour.Claim, f *exit.Fault) {
	if o.reserved {
		return held, nil
	}
	if o.RunID, f = run.ID(o.RunID, what, time.Now()); f != nil {
		return held, f
	}
	if held, f = neighbour.ClaimHost(o.Dir(), o.Getenv("BESIDE") != "", warn); f != nil {
		return held, f
	}
	if f = run.MakeFolder(o.Dir()); f != nil {
		held.Release()
		return neighbour.Claim{}, f
	}
	o.reserved = true
	return held, nil
}

// Dir is results/RUN.
func (o *Options) Dir() string { return filepath.Join(o.Root, "results", o.RunID) }
