// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"testing"

	"windtunnel/k6/internal/result"
)

func TestWhoDoesNotUnderstandWhomIsAFindingAndAFaultWhereTheCandidateHasAPartInIt(t *testing.T) {
	deaf := "TCP: 0 of 30 answered"
	cell := func(client, server, outcome string) InteropCell {
		c := InteropCell{Client: client, Server: server, Outcome: outcome}
		if outcome == "does not interoperate" {
			c.Detail = &deaf
		}
		return c
	}
	good := cell("sing-box", "sing-box", interoperates)
	for _, c := range []struct {
		about string
		cells []InteropCell
		want  string
		says  string
	}{
		{"two that are not on trial", []InteropCell{good, cell("sing-box", "xray", "does not interoperate")}, result.Pass, ""},
		{"one that does not understand itself", []InteropCell{good, cell("xray", "xray", "does not interoperate")}, result.Fail, ""},
		{"a hop that others can read", []InteropCell{good, cell("sing-box", "xray", "not encrypted")}, result.Fail, ""},
		{
			"the candidate", []InteropCell{good, cell("sing-box", "candidate", "does not interoperate")}, result.Fail,
			"vless-tls: client sing-box, server candidate: does not interoperate: TCP: 0 of 30 answered",
		},
		{"nothing tried", []InteropCell{cell("xray", "xray", impossibleHere)}, result.Inconclusive, "no pair was tried"},
		{"not reached", []InteropCell{cell("sing-box", "sing-box", "not reached")}, result.Fail, ""},
	} {
		e := complete()
		e.Interop = []InteropRow{{Row: "vless-tls", Cells: c.cells}}
		j := judged(t, e, sent(1000, 0))
		if isJudged(t, c.about, j, c.want, c.says); c.says != "" && reasonsOf(j) != c.says {
			t.Errorf("%s: %s", c.about, reasonsOf(j))
		}
	}
}

func TestTheRowsOfAMatrixHaveTheLastWord(t *testing.T) {
	e := complete()
	told := func(text string) *Protocols {
		var p Protocols
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		return &p
	}
	e.Protocols = told(`{"rows":[{"row":"socks","udp":true,"baseline":{"outcome":"measured","figures":{"rtt_ms":{"median":1}}}}]}`)
	// The outcome of a row includes its failed requests.
	j := judged(t, e, sent(1000, 0).with(fake{"operation_errors{operation:send,kind:timeout}": {"count": 1}}))
	isJudged(t, "measured", j, result.Pass, "")
	e.Protocols = told(`{"rows":[{"row":"socks","baseline":{"outcome":"not ready"}}]}`)
	isJudged(t, "not ready", judged(t, e, sent(1000, 0)), result.Fail, "socks: baseline: not ready")
}
