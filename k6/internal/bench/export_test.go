// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"testing"
)

// Dataplane is a checkout with the testbeds proxy, other and bare of a data plane. It is for tests outside this package,
// which may import packages that import it. Output goes to Out and Err.
type Dataplane struct {
	Options
	Out, Err interface{ String() string }
	Signal   chan<- os.Signal
	Events   string
}

func NewDataplane(t *testing.T, environ ...string) *Dataplane {
	tr := newTrial(t, "here", "", environ...)
	withDataplane(t, tr, `{"testbed":{"name":"proxy","variables":{"queue":5}},"auth":{"mode":"none"}}`)
	return &Dataplane{Options: tr.Options, Out: tr.out, Err: tr.err, Signal: tr.signals, Events: tr.events}
}
