// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
)

func TestNeedsFileThatIsWrongIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		`{"own":{"testbed":"mine"}}`:            `scripts/dataplane/needs.json: own: testbed "mine": choose one of any, own`,
		`{"own":{}}`:                            `scripts/dataplane/needs.json: own: testbed "": choose one of any, own`,
		`{"onw":{"testbed":"own"}}`:             "scripts/dataplane/needs.json: onw: there is no such scenario; did you mean own?",
		`{"own":{"testbeds":"own"}}`:            `scripts/dataplane/needs.json: json: unknown field "testbeds"`,
		`{"own":{"testbed":"own","chooses":7}}`: "scripts/dataplane/needs.json: json: ",
	} {
		tr := newTrial(t, "here", "dataplane/tell")
		withOwn(t, tr)
		write(t, tr, "scripts/dataplane/needs.json", text)
		if code := Run(tr.Options); code != exit.Usage || !strings.HasPrefix(tr.err.String(), says) {
			t.Errorf("%s: code %d, %s", text, code, tr.err)
		}
	}
}

func TestWhatNeedsATestbedIsLeftOutWithoutOne(t *testing.T) {
	tr := newTrial(t, "here", "dataplane")
	withDataplane(t, tr, `{"url":"socks5://127.0.0.1:1","auth":{"mode":"none"}}`)
	write(t, tr, "scripts/dataplane/needs.json", `{"tell":{"testbed":"any"}}`)
	if code := Run(tr.Options); code != exit.Usage {
		t.Errorf("code %d", code)
	}
	want(t, tr.err.String(), "dataplane/tell is left out: it starts a testbed again and again", "nothing is left to run")
}
