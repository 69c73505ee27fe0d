// SPDX-License-Identifier: AGPL-3.0-only

package stream

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

var (
	at = time.Unix(100, 0)
	of = Of{TestID: "t", Profile: "quick", System: "dataplane", Scenario: "queue-sweep"}
)

func wantLines(t *testing.T, b *influx.Batch, want ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(b.Lines()), "\n")
	slices.Sort(lines)
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func process(name string, cpuS float64, rss int64, exit ...string) Process {
	p := Process{Name: name, Role: "system", CPUS: cpuS, RSSBytes: rss}
	if len(exit) > 0 {
		p.Exit = &exit[0]
	}
	return p
}

func TestUseIsOfTheTimeBetweenTwoLooks(t *testing.T) {
	before := Usage{DurationS: 10, Host: Host{CPUs: 4, BusyS: new(20.0)}, Processes: []Process{
		process("client", 1, 50), process("ended", 2, 70), process("long-gone", 3, 80, "signal 9")}}
	now := Usage{DurationS: 12, Host: Host{CPUs: 4, BusyS: new(26.0)}, Processes: []Process{
		process("client", 2, 60), process("ended", 2.5, 70, "exit status 0"), process("long-gone", 3, 80, "signal 9"), process("new", 0.2, 5)}}
	// A second testbed, started by the scenario.
	other := Span{Before: Usage{DurationS: 1, Processes: []Process{process("client", 5, 1)}},
		Now: Usage{DurationS: 2, Processes: []Process{process("client", 5.25, 40)}}}
	var b influx.Batch
	used(&b, of, []Span{{before, now}, other}, at)
	const tags = ",profile=quick,role=system,scenario=queue-sweep,system=dataplane,testid=t"
	wantLines(t, &b,
		"host,profile=quick,scenario=queue-sweep,system=dataplane,testid=t busy_percent=75,cpus=4i 100000",
		"processes,process=client"+tags+" cpu_percent=75,rss_bytes=100i 100000",
		"processes,process=ended"+tags+" cpu_percent=25 100000",
		"processes,process=new"+tags+" cpu_percent=10,rss_bytes=5i 100000")
}

func TestTooShortATimeSaysNothing(t *testing.T) {
	var b influx.Batch
	used(&b, of, []Span{{Usage{DurationS: 1}, Usage{DurationS: 1.1, Host: Host{CPUs: 2, BusyS: new(1.0)}, Processes: []Process{process("client", 1, 1)}}}}, at)
	wantLines(t, &b, "")
}

func TestWhatLinksDoIsOfAllOfThem(t *testing.T) {
	link := func(rate string, deliveredUp, droppedUp, queuedUp, lostDown int64) (l Link) {
		text := fmt.Sprintf(`{"settings": {"up": {"rate_bit_s": %s}, "down": {"rate_bit_s": null}},
			"ever": {"up": {"delivered_bytes": %d, "queue_dropped": %d, "queued_bytes_recent": %d}, "down": {"lost": %d, "dead": 2}}}`,
			rate, deliveredUp, droppedUp, queuedUp, lostDown)
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	var b influx.Batch
	linked(&b, of, []LinkSpan{
		{Before: link("10", 1000, 5, 90, 1), Now: link("20", 1500, 7, 40, 4)},
		{Now: link("15", 200, 0, 60, 1)}, // a new one
	}, at)
	const tags = ",profile=quick,scenario=queue-sweep,system=dataplane,testid=t "
	wantLines(t, &b,
		"link,direction=down"+tags+"dead=2i,delivered_bytes=0i,links=2i,lost=4i,queue_dropped=0i,queued_bytes=0i 100000",
		"link,direction=up"+tags+"dead=0i,delivered_bytes=700i,links=2i,lost=0i,queue_dropped=2i,queued_bytes=60i,rate_bit_s=20i 100000")
	b = influx.Batch{}
	linked(&b, of, nil, at)
	wantLines(t, &b, "")
}

func TestBoundsOfThresholds(t *testing.T) {
	for expression, bound := range map[string]string{"p(95)<250": "bound=250,", "p(99.9)<=0.5": "bound=0.5,", "rate<=0": "bound=0,",
		"count>=1e3": "bound=1000,", "count==7": "bound=7,", "med < 1.5": "bound=1.5,", "odd": ""} {
		var b influx.Batch
		thresholdPoint(&b, of, result.Threshold{Operation: "op", Metric: "m", Expression: expression, Unit: "ms", OK: true}, at)
		if got := b.Lines(); !strings.Contains(got, " "+bound+`expression="`+expression+`",metric="m",ok=1i,unit="ms" 100000`) {
			t.Errorf("%s: %s", expression, got)
		}
	}
}

func TestWhatAResultHasNotIsLeftOut(t *testing.T) {
	rate, mbit := 5.5, 8.0
	op := result.Operation{Name: "up", Requests: 5, Success: 3, Errors: map[string]int64{"timeout": 2, "closed": 0},
		RatePerS: &rate, Transfer: &result.Transfer{MbitPerS: &mbit}}
	var b influx.Batch
	operationPoints(&b, of, op, nil, at)
	const tags = ",operation=up,profile=quick,scenario=queue-sweep,system=dataplane,testid=t"
	wantLines(t, &b, "errors,kind=closed"+tags+" count=0i 100000", "errors,kind=timeout"+tags+" count=2i 100000",
		"results"+tags+" failed=2i,mbit_per_s=8,rate_per_s=5.5,requests=5i,success=3i 100000")
}

func TestAScenarioIsDatedAtItsBeginning(t *testing.T) {
	var b influx.Batch
	outcome(&b, of, run.Fail, "too slow", nil, 2500*time.Millisecond, time.UnixMilli(103_700))
	const tags = "profile=quick,scenario=queue-sweep,system=dataplane,testid=t "
	wantLines(t, &b,
		"events,kind=scenario,"+tags+`ended_ms=103700i,text="too slow",title="dataplane/queue-sweep: fail",verdict="fail" 101200`,
		"verdicts,"+tags+`began_ms=101200i,code=1i,ended_ms=103700i,reasons="too slow",seconds=2.5,verdict="fail" 103700`)
}

func TestAScenarioIsDoubtfulByItsOwnChecks(t *testing.T) {
	held, failed := true, false
	for want, checks := range map[string][]result.Validity{
		"trusted=1i": {{Check: "cpu", OK: &held}, {Check: "late"}},
		"trusted=0i": {{Check: "cpu", OK: &held}, {Check: "late", OK: &failed}},
	} {
		var b influx.Batch
		outcome(&b, of, run.Pass, "", checks, time.Second, time.UnixMilli(103_700))
		if lines := b.Lines(); !strings.Contains(lines, want) {
			t.Errorf("%s is not in %s", want, lines)
		}
	}
}

func TestLatenciesOfTheControlStandBesideAnOperations(t *testing.T) {
	p50, p95, direct := 2.0, 3.0, 1.0
	r := result.Result{
		Operations: []result.Operation{
			{Name: "tcp", LatencyMS: &result.Latency{P50: &p50, P95: &p95}},
			{Name: "tcp_direct", LatencyMS: &result.Latency{P50: &direct}},
			{Name: "udp"}},
		Controls: []result.Control{{Operation: "tcp", Control: "tcp_direct"}, {Operation: "udp", Control: "gone"}}}
	for name, want := range map[string]string{"tcp": "control_p50_ms=1,", "tcp_direct": "", "udp": ""} {
		var b influx.Batch
		op := r.Operations[slices.IndexFunc(r.Operations, func(op result.Operation) bool { return op.Name == name })]
		control, _ := r.ControlOf(name)
		operationPoints(&b, of, op, control.LatencyMS, at)
		lines := b.Lines()
		if want != "" && !strings.Contains(lines, want) || strings.Contains(lines, "control_") != (want != "") || strings.Contains(lines, "control_p95_ms") {
			t.Errorf("%s: %s", name, lines)
		}
	}
}

func TestRowsOfSections(t *testing.T) {
	var s result.Section
	if err := json.Unmarshal([]byte(`{"name": "candidate", "operation": "send", "columns": [{"name": "ok", "unit": "ok"}, {"name": "row", "unit": "text"},
		{"name": "rtt_ms", "unit": "ms"}, {"name": "known", "unit": "ok"}, {"name": "in_flight", "unit": "count"}], "rows": [
		[true, "trojan", {"value": 2, "low": 1, "high": null}, false, 32], [null, "tuic", null, null, "open loop"], [null, "tuic", 3, null, null]]}`), &s); err != nil {
		t.Fatal(err)
	}
	var b influx.Batch
	sectionPoints(&b, of, s, at)
	const tags = ",scenario=queue-sweep,section=candidate,system=dataplane,testid=t "
	wantLines(t, &b, "sections,operation=send,profile=quick,row=trojan"+tags+`in_flight=32,known=0,ok=1,row_text="trojan",rtt_ms=2,rtt_ms_low=1 100000`,
		"sections,operation=send,profile=quick,row=tuic"+tags+`in_flight_text="open loop",known=-1,ok=-1,row_text="tuic" 100000`,
		`sections,operation=send,profile=quick,row=tuic\ #3`+tags+`known=-1,ok=-1,row_text="tuic",rtt_ms=3 100000`)
}

func TestAGapIsMarkedOnceTheServerIsBack(t *testing.T) {
	var mu sync.Mutex
	var text bytes.Buffer
	away := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if away {
			away = false
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = text.ReadFrom(unpacked)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	config, wanted, err := Wanted(t.Context(), func(name string) string {
		return map[string]string{influx.VariableURL: server.URL}[name]
	})
	if !wanted || err != nil {
		t.Fatal(err)
	}
	var told []string
	s := Open(config, func(line string) { told = append(told, line) }, func(text string) string { return strings.ToUpper(text) })
	s.Started(of)
	missing := influx.ParseSeconds("90-95")
	s.Heard(of, influx.Report{Warning: "k6 says so too"})
	s.Heard(of, influx.Report{Missing: &missing})
	s.Ended(of, run.Scenario{Outcome: run.SetupFailed, Message: "a secret"}, "", time.Second)
	const sentence = "InfluxDB misses 6 seconds, from 00:01:30 to 00:01:35 UTC; the results are complete"
	for _, lines := range [][]string{s.Notes(of), s.Close(of)} {
		if len(lines) != 1 || lines[0] != sentence {
			t.Errorf("%q", lines)
		}
	}
	if len(told) != 1 {
		t.Errorf("%q", told)
	}
	for _, want := range []string{
		`events,kind=gap,profile=quick,scenario=queue-sweep,system=dataplane,testid=t text="` + sentence + `",title="dataplane/queue-sweep: 6 seconds are missing" 90`,
		`,reasons="A SECRET",seconds=1,verdict="set-up failed" `,
		"events,kind=start,",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in\n%s", want, text.String())
		}
	}
}

func TestNothingIsStreamedUnasked(t *testing.T) {
	if _, wanted, err := Wanted(t.Context(), func(string) string { return "" }); wanted || err != nil {
		t.Errorf("%v %v", wanted, err)
	}
	var none *Stream
	none.RunStarted(of, "")
	none.Heard(of, influx.Report{Warning: "x"})
	if notes, lines := none.Notes(of), none.Close(of); len(notes)+len(lines) > 0 {
		t.Errorf("%q %q", notes, lines)
	}
}

// TestAK6ThatDiesInAnOutageIsNotToldToBeComplete has a k6 whose output warned, and ended before it reported its missing
// seconds.
func TestAK6ThatDiesInAnOutageIsNotToldToBeComplete(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer server.Close()
	const unsent = "InfluxDB misses what k6 of dataplane/queue-sweep had not sent when it ended abruptly"
	const sent = "InfluxDB was unreachable for a while; all points were sent again, and none is missing"
	const one = "InfluxDB misses 1 second, 00:01:30 UTC; the results are complete"
	other := Of{TestID: "t", Profile: "quick", System: "pulsar", Scenario: "ingest"}
	second := influx.ParseSeconds("90-90")
	for name, c := range map[string]struct {
		heard func(s *Stream)
		want  []string
	}{
		"nothing was wrong": {func(*Stream) {}, nil},
		"it warned, and told": {func(s *Stream) {
			s.Heard(of, influx.Report{Warning: "away"})
			s.Heard(of, influx.Report{Missing: &influx.Seconds{}})
		}, []string{sent}},
		"it warned, and died": {func(s *Stream) { s.Heard(of, influx.Report{Warning: "away"}) }, []string{unsent}},
		"one died, one told": {func(s *Stream) {
			s.Heard(of, influx.Report{Warning: "away"})
			s.Heard(other, influx.Report{Warning: "away"})
			s.Heard(other, influx.Report{Missing: &second})
		}, []string{one, unsent}},
		// A server that is too slow, without an error.
		"it did not warn": {func(s *Stream) { s.Heard(of, influx.Report{Missing: &second}) }, []string{one}},
	} {
		config, _, err := Wanted(t.Context(), func(name string) string {
			return map[string]string{influx.VariableURL: server.URL}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		s := Open(config, func(string) {}, strings.TrimSpace)
		c.heard(s)
		if got := s.Close(of); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestANoticeIsToldOnce(t *testing.T) {
	config, _, err := Wanted(t.Context(), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	s := Open(config, func(line string) { told = append(told, line) }, strings.ToUpper)
	for range 2 {
		s.Heard(of, influx.Report{Notice: "the clock was set back"})
	}
	if lines := s.Close(of); len(lines) != 0 || !slices.Equal(told, []string{"THE CLOCK WAS SET BACK"}) {
		t.Errorf("%q %q", told, lines)
	}
}

// TestSecondsOfProcessesGoFirst has more seconds than the queue for an unreachable server holds.
func TestSecondsOfProcessesGoFirst(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	config, _, err := Wanted(t.Context(), func(name string) string {
		return map[string]string{influx.VariableURL: server.URL}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	warned := make(chan struct{})
	s := Open(config, func(string) { close(warned) }, strings.TrimSpace)
	s.RunStarted(of, "")
	<-warned
	span := Span{Usage{DurationS: 1, Host: Host{CPUs: 2, BusyS: new(0.0)}}, Usage{DurationS: 2, Host: Host{CPUs: 2, BusyS: new(0.0)}}}
	for n := range int64(2 * limits.Batches) {
		s.Used(of, Look{Spans: []Span{span}}, time.Unix(1000+n, 0), true)
	}
	missing := s.sender.Outage().Missing
	if want := fmt.Sprintf("1000-%d", 1000+limits.Batches); missing.String() != want {
		t.Errorf("%s is missing, want %s: the start of the run waits", missing, want)
	}
	s.Close(of)
}
