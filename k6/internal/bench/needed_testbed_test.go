// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"testing"

	"windtunnel/k6/internal/exit"
)

func TestWhatNeedsATestbedIsLeftOutWithoutOne(t *testing.T) {
	tr := newTrial(t, "here", "dataplane")
	withDataplane(t, tr, `{"url":"socks5://127.0.0.1:1","auth":{"mode":"none"}}`)
	write(t, tr, "scripts/dataplane/system.toml", `scenarios = [{ name = "tell", testbed = "any" }]`)
	if code := Run(tr.Options); code != exit.Usage {
		t.Errorf("code %d", code)
	}
	want(t, tr.err.String(), "dataplane/tell is left out: it starts a testbed again and again", "nothing is left to run")
}
