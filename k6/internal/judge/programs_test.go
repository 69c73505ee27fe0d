// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestWhoDoesNotUnderstandWhomIsAFindingAndAFaultWhereTheCandidateHasAPartInIt(t *testing.T) {
	deaf := "TCP: 0 of 30 answered"
	cell := func(client, server, outcome string) result.InteropCell {
		c := result.InteropCell{Client: client, Server: server, Outcome: outcome}
		if outcome == "does not interoperate" {
			c.Detail = &deaf
		}
		return c
	}
	good := cell("sing-box", "sing-box", result.Interoperates)
	for _, c := range []struct {
		about string
		cells []result.InteropCell
		want  string
		says  string
	}{
		{"two that are not on trial", []result.InteropCell{good, cell("sing-box", "xray", "does not interoperate")}, result.Pass, ""},
		{"one that does not understand itself", []result.InteropCell{good, cell("xray", "xray", "does not interoperate")}, result.Fail, ""},
		{"a hop that others can read", []result.InteropCell{good, cell("sing-box", "xray", "not encrypted")}, result.Fail, ""},
		{
			"the candidate", []result.InteropCell{good, cell("sing-box", "candidate", "does not interoperate")}, result.Fail,
			"vless-tls: client sing-box, server candidate: does not interoperate: TCP: 0 of 30 answered",
		},
		{"nothing tried", []result.InteropCell{cell("xray", "xray", result.Impossible)}, result.Inconclusive, "no pair was tried"},
		{"not reached", []result.InteropCell{cell("sing-box", "sing-box", "not reached")}, result.Fail, ""},
	} {
		e := complete()
		section, err := json.Marshal(result.Interop{Rows: []result.InteropRow{{Row: "vless-tls", Cells: c.cells}}})
		if err != nil {
			t.Fatal(err)
		}
		e.Sections = map[string]json.RawMessage{"interop": section}
		j := judged(t, e, sent(1000, 0))
		if isJudged(t, c.about, j, c.want, c.says); c.says != "" && reasonsOf(j) != c.says {
			t.Errorf("%s: %s", c.about, reasonsOf(j))
		}
	}
}

func TestTheRowsOfAMatrixHaveTheLastWord(t *testing.T) {
	e := complete()
	e.Sections = map[string]json.RawMessage{"protocols": json.RawMessage(`{"rows":[{"row":"socks","baseline":{"outcome":"measured","figures":{"rtt_ms":{"median":1}}}}]}`)}
	// The failed requests of a row are told by its outcome.
	j := judged(t, e, sent(1000, 0).with(fake{"operation_errors{operation:send,kind:timeout}": {"count": 1}}))
	isJudged(t, "measured", j, result.Pass, "")
	e.Sections["protocols"] = json.RawMessage(`{"rows":[{"row":"socks","baseline":{"outcome":"not ready"}}]}`)
	isJudged(t, "not ready", judged(t, e, sent(1000, 0)), result.Fail, "socks: baseline: not ready")
	if text, err := judged(t, e, sent(1000, 0)).File(); err != nil || !strings.Contains(string(text), `"outcome": "not ready"`) {
		t.Error(string(text), err)
	}
	e.Sections["protocols"] = json.RawMessage(`{"rows":7}`)
	if _, err := Judge(e, sent(1000, 0)); err == nil {
		t.Error("a section that cannot be read is judged")
	}
}
