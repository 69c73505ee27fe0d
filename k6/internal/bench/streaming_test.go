// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/redact"
)

const influxSecret = "influx/pass&word"

// fakeInflux keeps the received lines; it answers with a status.
type fakeInflux struct {
	*httptest.Server
	mu    sync.Mutex
	lines []string
}

func newFakeInflux(t *testing.T, status int) *fakeInflux {
	f := &fakeInflux{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != influxSecret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		text, _ := io.ReadAll(unpacked)
		f.mu.Lock()
		f.lines = append(f.lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		f.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(f.Close)
	return f
}

// find returns the lines of a measurement, without their times and with the numbers of some fields as N.
func (f *fakeInflux) find(measurement string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []string
	for _, line := range f.lines {
		if strings.HasPrefix(line, measurement+",") {
			line = line[:strings.LastIndexByte(line, ' ')]
			found = append(found, regexp.MustCompile(`(seconds|began_ms|ended_ms)=[0-9.]+`).ReplaceAllString(line, "$1=N"))
		}
	}
	return found
}

// withStreams gives the checkout the scenario pulsar/streams, which lasts for more than two seconds.
func withStreams(t *testing.T, tr *trial) {
	t.Helper()
	write(t, tr, "scripts/pulsar/streams.js", `import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
import { write } from './_result.js';
export const options = { vus: 1, iterations: 3, systemTags: ['status'],
  tags: { testid: __ENV.RUN_ID, system: 'pulsar', scenario: 'streams', profile: __ENV.PROFILE } };
const items = new Counter('operation_items');
export default function () { items.add(2, { operation: 'op' }); sleep(0.8); }
export const handleSummary = (data) => write(data, 'streams', 'fail', {
  sections: [{ name: 'prometheus', title: 'Time', columns: [{ name: 'part', title: 'Part', unit: 'text' }, { name: 'calls', title: 'Calls', unit: 'count' },
    { name: 'avg_ms', title: 'Avg', unit: 'ms' }, { name: 'share', title: 'Share', unit: 'share' }], rows: [['route', 2, null, 0.5]] }],
  thresholds: [{ operation: 'op', metric: 'operation_ms', expression: 'p(95)<1e2', value: null, unit: 'ms', ok: false }],
  validity: [{ check: 'generator CPU', ok: null, detail: 'not measured' }],
});
`)
}

func TestStreams(t *testing.T) {
	f := newFakeInflux(t, http.StatusNoContent)
	tr := newTrial(t, "local", "pulsar/streams", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret)
	withStreams(t, tr)
	if code := Run(tr.Options); code != exit.Fail || tr.err.String() != "" {
		t.Fatalf("code %d\n%s%s", code, tr.out, tr.err)
	}
	want(t, tr.out.String(), "\nstreaming to "+f.URL+", database windtunnel\n")
	const scenario = ",profile=smoke,scenario=streams,system=pulsar,testid=test"
	for measurement, lines := range map[string][]string{
		"events": {
			`events,kind=run_start,profile=smoke,scenario=-,system=-,testid=test text="environment local, 1 scenario",title="run test"`,
			`events,kind=start,profile=smoke,scenario=streams,system=pulsar,testid=test text="profile smoke",title="pulsar/streams"`,
			`events,kind=scenario,profile=smoke,scenario=streams,system=pulsar,testid=test ended_ms=Ni,text="fixture says fail",title="pulsar/streams: fail",verdict="fail"`,
			`events,kind=run_end,profile=smoke,scenario=-,system=-,testid=test text="profile smoke",title="test: fail",verdict="fail"`,
		},
		"verdicts":   {"verdicts" + scenario + ` began_ms=Ni,code=1i,ended_ms=Ni,reasons="fixture says fail",seconds=N,trusted=1i,verdict="fail"`},
		"results":    {"results,operation=op" + scenario + " avg_ms=1,failed=0i,max_ms=1,min_ms=1,p50_ms=1,rate_per_s=1,requests=1i,success=1i"},
		"thresholds": {"thresholds,operation=op" + scenario[:len(scenario)-len(",testid=test")] + `,testid=test,threshold=operation_ms\ p(95)<1e2 bound=100,expression="p(95)<1e2",metric="operation_ms",ok=0i,unit="ms"`},
		"validity":   {`validity,check=generator\ CPU` + scenario + ` detail="not measured",ok=-1i`},
		"sections":   {`sections,operation=-,profile=smoke,row=route,scenario=streams,section=prometheus,system=pulsar,testid=test calls=2,part_text="route",share=0.5`},
	} {
		if got := f.find(measurement); strings.Join(got, "\n") != strings.Join(lines, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
	}
	sum := 0
	for _, line := range f.find("operation_items") {
		for n, count := range map[int]string{2: "count=2", 4: "count=4", 6: "count=6"} {
			if line == "operation_items,operation=op"+scenario+" "+count {
				sum += n
			}
		}
	}
	if sum != 6 {
		t.Errorf("%d items in %q", sum, f.find("operation_items"))
	}
	for measurement, line := range map[string]string{
		"processes": "processes,process=relay,profile=smoke,role=system,scenario=streams,system=pulsar,testid=test cpu_percent=50,rss_bytes=1000i",
		"host":      "host" + scenario + " busy_percent=50,cpus=2i",
	} {
		got := f.find(measurement)
		if len(got) < 2 || strings.Join(got, "\n") != strings.TrimSpace(strings.Repeat(line+"\n", len(got))) {
			t.Errorf("%q", got)
		}
	}
	want(t, tr.text(t, "events"), `window {"instance":"i1","pids":{"k6":PID},"peaks":false}`, "window closed")
	if r := tr.record(t); len(r.Notes) != 0 || !r.Streamed {
		t.Errorf("%+v", r)
	}
}

// times are the times of a measurement's points, in order.
func (f *fakeInflux) times(measurement string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var times []string
	for _, line := range f.lines {
		if strings.HasPrefix(line, measurement+",") {
			times = append(times, line[strings.LastIndexByte(line, ' ')+1:])
		}
	}
	return times
}

// TestSlowLooksAreOfTheirSeconds has a sidecar that takes most of a second to report usage.
func TestSlowLooksAreOfTheirSeconds(t *testing.T) {
	f := newFakeInflux(t, http.StatusNoContent)
	tr := newTrial(t, "local", "pulsar/streams", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret, "FAKE_SIDECAR=slow")
	withStreams(t, tr)
	Run(tr.Options)
	times := f.times("host")
	if len(times) < 2 || len(slices.Compact(slices.Clone(times))) != len(times) {
		t.Errorf("%q: points of one second overwrite each other", times)
	}
}

// TestShortSpansAreAddedUp has two looks so close together that a CPU share would be noise.
func TestShortSpansAreAddedUp(t *testing.T) {
	f := newFakeInflux(t, http.StatusNoContent)
	tr := newTrial(t, "local", "pulsar/streams", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret, "FAKE_SIDECAR=brief")
	withStreams(t, tr)
	Run(tr.Options)
	if len(f.find("processes")) == 0 {
		t.Errorf("no processes\n%s", tr.text(t, "events"))
	}
}

// TestALookThatFailsIsNotTheLast has a sidecar that fails once, and one that has forgotten the window.
func TestALookThatFailsIsNotTheLast(t *testing.T) {
	for mode, goesOn := range map[string]bool{"stumble": true, "forget": false} {
		f := newFakeInflux(t, http.StatusNoContent)
		tr := newTrial(t, "local", "pulsar/streams", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret, "FAKE_SIDECAR="+mode)
		withStreams(t, tr)
		Run(tr.Options)
		looks := strings.Count(tr.text(t, "events"), "look ")
		if points := len(f.find("host")); (points > 0) != goesOn || (looks > 1) != goesOn {
			t.Errorf("%s: %d looks, %d points", mode, looks, points)
		}
	}
}

// TestAnInfluxThatIsAwaySpoilsNothing expects one warning and one line about what is missing, whatever the fault.
func TestAnInfluxThatIsAwaySpoilsNothing(t *testing.T) {
	ours, full := newFakeInflux(t, http.StatusNoContent), newFakeInflux(t, http.StatusInternalServerError)
	for name, c := range map[string]struct{ url, password, says string }{
		"dead":        {"http://127.0.0.1:1", "x", " refuses connections; start it (`make up` or `make influx`), or unset INFLUX"},
		"wrong login": {ours.URL, "wrong-pass", " refuses the login (401); fix INFLUX_USERNAME and INFLUX_PASSWORD, or INFLUX_TOKEN"},
		"full":        {full.URL, influxSecret, " cannot write (500); see its log and the disk that it writes to"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "local", "pulsar/streams,pulsar/passes", "INFLUX="+c.url, "INFLUX_PASSWORD="+c.password)
			withStreams(t, tr)
			if code := Run(tr.Options); code != exit.Fail || tr.outcomes(t) != "passes pass, streams fail" {
				t.Errorf("code %d, %s\n%s", code, tr.outcomes(t), tr.out)
			}
			lines := strings.Split(strings.TrimSpace(tr.err.String()), "\n")
			if len(lines) != 2 || lines[0] != "InfluxDB at "+c.url+c.says ||
				!regexp.MustCompile(`^InfluxDB misses \d+ seconds, from [0-9:]{8} to [0-9:]{8} UTC; the results are complete$`).MatchString(lines[1]) {
				t.Errorf("%q", lines)
			}
			if notes := tr.record(t).Notes; len(notes) != 1 || notes[0] != lines[len(lines)-1] {
				t.Errorf("%q", notes)
			}
		})
	}
}

func TestThePasswordOfInfluxStaysOut(t *testing.T) {
	f := newFakeInflux(t, http.StatusNoContent)
	tr := newTrial(t, "local", "pulsar/tells", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret)
	write(t, tr, "scripts/pulsar/tells.js", `import { write } from './_result.js';
export const options = { vus: 1, iterations: 1 };
export default function () { console.error('it is ' + __ENV.INFLUX_PASSWORD); }
export const handleSummary = (data) => write(data, 'tells', 'fail', { reasons: ['it is ' + __ENV.INFLUX_PASSWORD] });
`)
	Run(tr.Options)
	want(t, strings.Join(f.find("verdicts"), ""), `reasons="it is [secret]"`)
	want(t, tr.text(t, "results/test/logs/pulsar-tells.k6.log"), "it is [secret]")
	want(t, tr.text(t, "events"), "start pulsar-relay")
	err := filepath.WalkDir(tr.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if clean := redact.New([]string{influxSecret}).Text(string(data)); clean != string(data) {
			t.Errorf("%s holds the secret where [secret] stands here:\n%s", path, clean)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOutputsOfTheCallerAreKept(t *testing.T) {
	f := newFakeInflux(t, http.StatusNoContent)
	tr := newTrial(t, "local", "pulsar/streams", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret)
	withStreams(t, tr)
	tr.Environ = append(tr.Environ, "K6_OUT=windtunnel,json="+filepath.Join(tr.Root, "all.json"))
	Run(tr.Options)
	want(t, tr.text(t, "all.json"), `"metric":"operation_items"`)
	times := f.times("operation_items")
	if len(times) == 0 || len(slices.Compact(times)) != len(f.times("operation_items")) {
		t.Errorf("streamed at %q", f.times("operation_items"))
	}
}

// TestAnInterruptAtTheEndLeavesTheResult sends a signal when k6 has ended its load and waits for an InfluxDB that does
// not answer.
func TestAnInterruptAtTheEndLeavesTheResult(t *testing.T) {
	silent := make(chan struct{})
	f := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer f.Close()
	defer close(silent)
	tr := newTrial(t, "local", "pulsar/brief", "INFLUX="+f.URL)
	write(t, tr, "scripts/pulsar/brief.js", `import { write } from './_result.js';
export const options = { vus: 1, iterations: 1 };
export default function () {}
export function teardown() { console.log('teardown ran'); }
export const handleSummary = (data) => write(data, 'brief', 'pass');
`)
	code := make(chan int)
	go func() { code <- Run(tr.Options) }()
	eventually(t, "teardown", func() bool {
		data, _ := os.ReadFile(filepath.Join(tr.Root, "results/test/logs/pulsar-brief.k6.log"))
		return strings.Contains(string(data), "teardown ran")
	})
	// k6 then waits for a few seconds; before that it still catches signals.
	time.Sleep(500 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(tr.Root, "results/test/pulsar-brief.json")); err == nil {
		t.Fatal("the result is there already: k6 did not wait")
	}
	tr.signals <- syscall.SIGINT
	if got := <-code; got != exit.Interrupted {
		t.Errorf("code %d\n%s%s", got, tr.out, tr.err)
	}
	if r := tr.record(t); r.Scenarios[0].Result != "pulsar-brief.json" || !strings.Contains(r.Scenarios[0].Message, "the result is partial") {
		t.Errorf("%+v", r.Scenarios[0])
	}
}

// TestAPasswordAlone streams if an InfluxDB is at the default address, and otherwise says so.
func TestAPasswordAlone(t *testing.T) {
	listener, err := net.Listen("tcp", strings.TrimPrefix(influx.DefaultURL, "http://"))
	if err != nil {
		t.Skipf("the default address is taken: %v", err)
	}
	var mu sync.Mutex
	version, logins := "", 0
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, _, ok := r.BasicAuth(); ok {
			logins++
		}
		if version != "" {
			w.Header().Set("X-Influxdb-Version", version)
		}
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	const none = "\nnot streamed: no InfluxDB answers at the default address http://127.0.0.1:8086 (INFLUX_PASSWORD is set without INFLUX)\n"
	run := func() (said string, streamed bool) {
		tr := newTrial(t, "local", "pulsar/passes", "INFLUX_PASSWORD="+influxSecret)
		if code := Run(tr.Options); code != exit.Pass || tr.err.String() != "" {
			t.Errorf("code %d\n%s%s", code, tr.out, tr.err)
		}
		return tr.out.String(), tr.record(t).Streamed
	}
	said, streamed := run()
	mu.Lock()
	if !strings.Contains(said, none) || streamed || logins != 0 {
		t.Errorf("%d logins, streamed: %v\n%s", logins, streamed, said)
	}
	version = "1.6.7"
	mu.Unlock()
	said, streamed = run()
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(said, "not streamed") || !streamed || logins == 0 {
		t.Errorf("%d logins, streamed: %v\n%s", logins, streamed, said)
	}
}
