// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"testing"

	"windtunnel/k6/internal/farend"
	"windtunnel/k6/internal/record"
	"windtunnel/k6/internal/result"
)

// countedBy is a record of one far end's counts of the operation `send`.
func countedBy(all ...farend.Counts) *record.Record {
	r := record.New()
	for _, one := range all {
		one.Record(r, map[string]string{"operation": "send"})
	}
	return r
}

func exactly(number, found float64) farend.Count {
	return farend.Count{Least: number, Most: &number, Found: found}
}

func between3And5(found float64) farend.Count {
	most := 5.0
	return farend.Count{Least: 3, Most: &most, Found: found}
}

func TestAFarEndCountsAsTheProbeDid(t *testing.T) {
	for _, c := range []struct {
		about string
		all   []farend.Counts
		want  string // found, reported, ok and the detail
	}{
		{"as many", []farend.Counts{{"bytes_up": exactly(2048, 2048), "bytes_down": exactly(2048, 2048), "connections": exactly(1, 1)}},
			`2048 2048 true "the far end received as many bytes as the probe counted"`},
		{"none", []farend.Counts{{"bytes_up": exactly(2048, 0), "connections": exactly(1, 0)}},
			`0 2048 false "the far end received 0 of 2,048 bytes: the proxy itself answered"`},
		{"no datagram", []farend.Counts{{"datagrams_up": exactly(2000, 0), "bytes_up": exactly(9, 0)}},
			`0 2000 false "the far end received 0 of 2,000 datagrams: the proxy itself answered"`},
		{"no tunnel", []farend.Counts{{"connections": {Least: 2000, Found: 0}}},
			`0 2000 false "the far end accepted 0 of 2,000 connections: the proxy reported open tunnels but did not dial the target"`},
		{"more tunnels than were opened", []farend.Counts{{"connections": {Least: 5, Found: 7}}},
			`7 5 true "the far end accepted 7 connections; for 2 of them the probe has no answer"`},
		{"fewer in one of two probes", []farend.Counts{{"bytes_up": exactly(100, 90)}, {"bytes_up": exactly(100, 100)}},
			`190 200 false "the far end received 10 fewer bytes than the probe has answers: another program answered"`},
		{"fewer in one and more in another", []farend.Counts{{"bytes_up": exactly(100, 90)}, {"bytes_up": exactly(100, 110)}},
			`200 200 false "the far end received 10 fewer bytes than the probe has answers: another program answered"`},
		{"more than was sent", []farend.Counts{{"bytes_up": exactly(100, 100), "bytes_down": exactly(100, 101)}},
			`101 100 false "the far end sent 1 more bytes than the probe sent or requested"`},
		{"lost on the way back", []farend.Counts{{"datagrams_up": between3And5(5), "datagrams_down": between3And5(5)}},
			`5 3 true "the far end received 5 datagrams; for 2 of them the probe has no answer"`},
		{"lost on the way there", []farend.Counts{{"datagrams_up": between3And5(3), "datagrams_down": between3And5(3)}},
			`3 3 true "the far end received as many datagrams as the probe counted"`},
		{"twice on the way there", []farend.Counts{{"datagrams_up": between3And5(6)}},
			`6 3 false "the far end received 1 more datagrams than the probe sent or requested"`},
		{"not ours", []farend.Counts{nil}, `null null null "not counted: the far end is not Windtunnel's echo server"`},
		{"not ours in one of two probes", []farend.Counts{nil, {"bytes_up": exactly(7, 7)}},
			`7 7 true "the far end received as many bytes as the probe counted"`},
	} {
		lines := farEndOf(countedBy(c.all...), []Operation{{Name: "send"}, {Name: "other"}})
		isLine(t, c.about, lines, c.want)
		if lines[0].Check != "far end: send" || lines[0].Source != "far_end" {
			t.Error(lines[0])
		}
	}
}

// both has the evidence of a good run, and the counts of its far end.
type both struct {
	fake
	far *record.Record
}

func (b both) Values(metric string, tags map[string]string) (record.Values, bool) {
	if metric == farend.Metric {
		return b.far.Values(metric, tags)
	}
	return b.fake.Values(metric, tags)
}

func TestAProxyThatAnswersByItselfFailsTheRun(t *testing.T) {
	good := sent(1000, 0)
	for _, c := range []struct {
		about   string
		far     farend.Counts
		verdict string
	}{
		{"as many", farend.Counts{"bytes_up": exactly(100, 100)}, result.Pass},
		{"none", farend.Counts{"bytes_up": exactly(100, 0)}, result.Fail},
		{"not ours", nil, result.Pass},
	} {
		m := both{good, countedBy(c.far)}
		if j := judged(t, complete(), m); j.Verdict != c.verdict || len(j.Integrity) != 1 {
			t.Errorf("%s: %s, %s", c.about, j.Verdict, reasonsOf(j))
		}
		rows := complete()
		rows.Protocols = &Protocols{Rows: []ProtocolRow{rowNamed("vless", nil)}}
		if j := judged(t, rows, m); j.Verdict != c.verdict {
			t.Errorf("a row, %s: %s, %s", c.about, j.Verdict, reasonsOf(j))
		}
	}
}
