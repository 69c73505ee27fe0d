// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/result"
)

// holding is what a process holds: TCP connections that are left, other TCP connections, UDP sockets, pipes and files.
func holding(left, pooled, udp, pipes, files int64) result.Holding {
	return result.Holding{Descriptors: &result.Descriptors{
		All: left + pooled + udp + pipes + files, TCP: map[string]int64{"close_wait": left, "established": pooled}, Left: left, UDP: udp, Pipes: pipes, Other: files,
	}}
}

// linked has connections to far ends among its established ones.
func linked(held result.Holding, farEnds int64) result.Holding {
	held.Descriptors.Left += farEnds
	return held
}

func TestWhatStaysOpenAfterTheLoad(t *testing.T) {
	const bound = "; 10 of a kind may stay in a process"
	before := holding(0, 1, 0, 2, 8)
	for about, c := range map[string]struct {
		after     result.Holding
		closesAll bool
		want      string
		ok        *bool
	}{
		"nothing":                             {before, true, "at most 0 more than before, 5 s after the load" + bound, new(true)},
		"the slack":                           {holding(10, 1, 0, 2, 18), true, "at most 10 more than before, 5 s after the load" + bound, new(true)},
		"one more":                            {holding(11, 1, 0, 2, 8), true, "11 TCP connections 5 s after the load (proxy has 22: 11 TCP close_wait, 1 TCP established, 2 pipes, 8 other)" + bound, new(false)},
		"a pool":                              {holding(0, 500, 0, 2, 8), true, "at most 0 more than before, 5 s after the load" + bound, new(true)},
		"associations and pipes":              {holding(0, 1, 900, 400, 8), true, "at most 0 more than before, 5 s after the load" + bound, new(true)},
		"control connections of associations": {holding(300, 1, 600, 2, 8), true, "at most 0 more than before, 5 s after the load" + bound, new(true)},
		"as many far ends as sockets of DNS":  {linked(holding(0, 61, 60, 2, 8), 60), true, "60 TCP connections 5 s after the load (proxy has 131: 61 TCP established, 60 UDP, 2 pipes, 8 other)" + bound, new(false)},
		"a far end of each association":       {linked(holding(40, 61, 60, 2, 8), 60), true, "60 TCP connections 5 s after the load (proxy has 171: 61 TCP established, 40 TCP close_wait, 60 UDP, 2 pipes, 8 other)" + bound, new(false)},
		"files":                               {holding(0, 1, 0, 2, 1220), true, "1,212 other descriptors 5 s after the load (proxy has 1,223: 1 TCP established, 2 pipes, 1,220 other)" + bound, new(false)},
		"files of a database":                 {holding(0, 1, 0, 2, 1220), false, "at most 0 more than before, 5 s after the load" + bound, new(true)},
		"descriptors that could not be read":  {result.Holding{}, true, "the descriptors could not be read of: proxy", nil},
	} {
		held := &result.Held{AfterS: 5, Slack: 10, Processes: []result.HeldByOne{{Name: "proxy", Before: before, After: &c.after}, {Name: "ended", Before: before}}}
		lines := leftOpen(held, c.closesAll, "")
		if len(lines) != 1 || lines[0].Detail != c.want || (lines[0].OK == nil) != (c.ok == nil) || c.ok != nil && *lines[0].OK != *c.ok {
			t.Errorf("%s: %+v", about, lines)
		}
	}
	if leftOpen(nil, true, "") != nil {
		t.Error("nothing was read, and is judged")
	}
}

func TestConnectionsThatStayOpenFailTheRun(t *testing.T) {
	e := complete()
	if err := json.Unmarshal([]byte(`{"held": {"after_s": 5, "slack": 10, "processes": [{"name": "proxy",
			"before": {"anon_bytes": 1048576, "threads": 4, "cpu_s": 1, "descriptors": {"all": 8, "tcp": {"listen": 1}, "left": 0, "udp": 0, "pipes": 0, "other": 7}},
			"after": {"anon_bytes": 2097152, "threads": 4, "cpu_s": 2, "descriptors": {"all": 1208, "tcp": {"listen": 1, "established": 1200}, "left": 1200, "udp": 0, "pipes": 0, "other": 7}}}]}}`), e.Usage); err != nil {
		t.Fatal(err)
	}
	j := judged(t, e, sent(1000, 0))
	const want = "left open: 1,200 TCP connections 5 s after the load (proxy has 1,208: 1,200 TCP established, 1 TCP listen, 7 other); 10 of a kind may stay in a process"
	if j.Verdict != result.Fail || len(j.Reasons) == 0 || j.Reasons[0].Text != want {
		t.Errorf("%s: %+v", j.Verdict, j.Reasons)
	}
	if text := j.Held.Text(); text != "the system held 8 descriptors and 1.0 MiB before the load, and 1,208 and 2.0 MiB 5 s after it" {
		t.Error(text)
	}
	e.Run = json.RawMessage(`{"start":"1970-01-01T00:16:40Z","versions":{"xray":"26.3.27"}}`)
	if panel := judged(t, e, sent(1000, 0)); panel.Verdict != result.Fail {
		t.Errorf("a panel that starts it: %s: %+v", panel.Verdict, panel.Integrity)
	}
	e.ClosesAll = true
	if alone := judged(t, e, sent(1000, 0)); alone.Verdict != result.Fail {
		t.Errorf("a proxy of one process: %s: %+v", alone.Verdict, alone.Integrity)
	}
	closed := e.Usage.Held.Processes[0].Before
	e.Usage.Held.Processes = append(e.Usage.Held.Processes, result.HeldByOne{Name: "client", Before: closed, After: &closed})
	if known := judged(t, e, sent(1000, 0)); known.Verdict != result.Pass || len(known.Integrity) != 1 || *known.Integrity[0].OK || known.Integrity[0].Known == "" {
		t.Errorf("a known fault: %s: %+v", known.Verdict, known.Integrity)
	}
	processes := e.Usage.Held.Processes
	e.Usage.Held.Processes = append(processes, result.HeldByOne{Name: "client", After: &result.Holding{}})
	if unknown := judged(t, e, sent(1000, 0)); unknown.Verdict != result.Inconclusive {
		t.Errorf("a known fault beside a process that could not be read: %s: %+v", unknown.Verdict, unknown.Integrity)
	}
	e.Usage.Held.Processes = processes
	e.Run = json.RawMessage(`{"start":"1970-01-01T00:16:40Z","versions":{"xray":"26.4.1"}}`)
	if other := judged(t, e, sent(1000, 0)); other.Verdict != result.Fail {
		t.Errorf("another version: %s: %+v", other.Verdict, other.Integrity)
	}
}

func TestMemoryThatStaysIsARemarkAndNoReason(t *testing.T) {
	const mib = 1 << 20
	for about, c := range map[string]struct {
		before, after int64
		want          string
	}{
		"a little":                    {10 * mib, 42 * mib, ""},
		"much, but less than doubled": {200 * mib, 399 * mib, ""},
		"a step of 50 MiB":            {10 * mib, 60 * mib, "memory kept 5 s after the load: proxy has 60.0 MiB and had 10.0 MiB before; one load cannot tell a step from a leak: footprint/leak can"},
	} {
		e := complete()
		of := holding(0, 1, 0, 2, 8)
		before, after := of, of
		before.AnonBytes, after.AnonBytes = c.before, c.after
		e.Usage.Held = &result.Held{AfterS: 5, Slack: 10, Processes: []result.HeldByOne{{Name: "proxy", Before: before, After: &after}}}
		j := judged(t, e, sent(1000, 0))
		noted := slices.ContainsFunc(j.Notes, func(note string) bool { return strings.HasPrefix(note, "memory kept") })
		if j.Verdict != result.Pass || noted != (c.want != "") || c.want != "" && !slices.Contains(j.Notes, c.want) {
			t.Errorf("%s: %s: %v", about, j.Verdict, j.Notes)
		}
	}
}

func TestManyDescriptorsThatNoCheckCountsAreARemark(t *testing.T) {
	before := holding(0, 1, 0, 2, 8)
	for about, c := range map[string]struct {
		after result.Holding
		want  string
	}{
		"a few":                     {holding(0, 50, 50, 2, 8), ""},
		"those that a check judges": {holding(9, 1, 0, 2, 17), ""},
		"connections of a hop": {holding(0, 293, 0, 2, 8),
			"UDP sockets, pipes and connections between the system's own processes decide nothing, but 5 s after the load proxy keeps 292 more (303: 293 TCP established, 2 pipes, 8 other)"},
	} {
		e := complete()
		e.Usage.Held = &result.Held{AfterS: 5, Slack: 10, Processes: []result.HeldByOne{{Name: "proxy", Before: before, After: &c.after}}}
		j := judged(t, e, sent(1000, 0))
		noted := slices.ContainsFunc(j.Notes, func(note string) bool { return strings.HasPrefix(note, "UDP sockets") })
		if j.Verdict != result.Pass || noted != (c.want != "") || c.want != "" && !slices.Contains(j.Notes, c.want) {
			t.Errorf("%s: %s: %v", about, j.Verdict, j.Notes)
		}
	}
}

func TestEachRowThatLeavesSomethingOpenIsNamed(t *testing.T) {
	before := holding(0, 1, 0, 2, 8)
	of := func(name string, version string, after result.Holding, afterS float64) result.HeldByRow {
		return result.HeldByRow{Name: name, Versions: map[string]string{"xray": version}, Held: result.Held{AfterS: afterS, Slack: 10, Processes: []result.HeldByOne{
			{Name: "server", Before: before, After: &after}, {Name: "client", Before: before, After: &before}}}}
	}
	e := complete()
	e.Rows = []result.HeldByRow{of("vless", "26.4.1", holding(3, 1, 0, 2, 8), 0.5), of("trojan", "26.4.1", holding(0, 1, 0, 2, 9), 1.5)}
	fine := judged(t, e, sent(1000, 0))
	const closed = "2 rows: at most 3 more than before, at most 1.5 s after a turn; 10 of a kind may stay in a process"
	if fine.Verdict != result.Pass || len(fine.Integrity) != 1 || fine.Integrity[0].Detail != closed {
		t.Errorf("%s: %+v", fine.Verdict, fine.Integrity)
	}
	e.Rows = append(e.Rows, of("ssh", "26.3.27", holding(60, 1, 0, 2, 8), 5))
	if known := judged(t, e, sent(1000, 0)); known.Verdict != result.Pass || len(known.Integrity) != 2 || known.Integrity[0].Known == "" {
		t.Errorf("a known fault: %s: %+v", known.Verdict, known.Integrity)
	}
	e.Rows = append(e.Rows, of("vmess, candidate", "26.4.1", holding(0, 1, 0, 2, 68), 5))
	j := judged(t, e, sent(1000, 0))
	const want = "left open: vmess, candidate: 60 other descriptors 5 s after the load (server has 71: 1 TCP established, 2 pipes, 68 other); 10 of a kind may stay in a process"
	if j.Verdict != result.Fail || len(j.Reasons) == 0 || j.Reasons[0].Text != want {
		t.Errorf("%s: %+v", j.Verdict, j.Reasons)
	}
	apart := of("trojan, over a link", "26.4.1", holding(60, 1, 0, 2, 8), 5)
	apart.Unjudged = "over a link"
	e.Rows = []result.HeldByRow{apart, of("vless", "26.4.1", before, 0.5)}
	if linked := judged(t, e, sent(1000, 0)); linked.Verdict != result.Pass || len(linked.Integrity) != 1 || !reflect.DeepEqual(linked.Rows, e.Rows) {
		t.Errorf("what is not judged: %s: %+v: %+v", linked.Verdict, linked.Integrity, linked.Rows)
	}
	for _, unread := range []result.HeldByRow{of("socks", "", result.Holding{}, 0), {Name: "an instance that did not answer"}} {
		e.Rows = []result.HeldByRow{unread, of("vless", "26.4.1", before, 0.5)}
		if unknown := judged(t, e, sent(1000, 0)); unknown.Verdict != result.Inconclusive || len(unknown.Integrity) != 2 {
			t.Errorf("%s: unknown descriptors: %s: %+v", unread.Name, unknown.Verdict, unknown.Integrity)
		}
	}
}
