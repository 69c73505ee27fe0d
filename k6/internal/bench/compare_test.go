// SPDX-License-Identifier: AGPL-3.0-only

package bench_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/testbed"
	"windtunnel/k6/internal/testsupport/busy"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func noBeds(string) testbed.Testbed { return testbed.Testbed{} }

// withUsers gives the checkout the scenarios dataplane/create and dataplane/disable. Their operations take 100 ms and
// 200 ms, on the testbed other 150 ms and 300 ms.
func withUsers(t *testing.T, d *bench.Dataplane) {
	t.Helper()
	const script = `import { write } from '../pulsar/_result.js';
export const options = { vus: 1, iterations: 1 };
export default function () {}
export function handleSummary(data) {
  const pair = Number(/pair(\d+)/.exec(__ENV.RUN_ID)[1]);
  const ms = MS * (__ENV.FAKE_TESTBED === 'other' ? 1.5 : 1) * (1 + 0.002 * ((pair * 7) % 5));
  const latency_ms = { count: 500, avg: ms, min: ms / 2, p50: ms, p90: ms, p95: 1.5 * ms, p99: 2 * ms, p99_9: null, max: 3 * ms };
  const operation = { name: 'NAME', title: 'NAME users', loop: 'closed', latency_is: 'l', requests: 500, success: 500, errors: {},
    window_s: ms / 100, rate_per_s: 50000 / ms, latency_ms };
  const section = { name: 'component', title: 'Where the time goes: NAME users', operation: 'NAME', answer: 'database',
    columns: [{ name: 'component', title: 'Component', unit: 'text' }, { name: 'avg_ms', title: 'Avg', unit: 'ms', compare: 'lower' }],
    rows: [['route', ms], ['database', 0.6 * ms]] };
  const files = write(data, 'NAME', 'pass', { operations: [operation], sections: [section] });
  const [path, text] = Object.entries(files)[0];
  return { [path.replace('pulsar-', 'dataplane-')]: text.replace('"system":"pulsar"', '"system":"dataplane"')
    .replace('2026-01-02T03:04:05Z', new Date().toISOString()) };
}
`
	for name, ms := range map[string]string{"create": "100", "disable": "200"} {
		text := strings.NewReplacer("NAME", name, "MS", ms).Replace(script)
		if err := os.WriteFile(filepath.Join(d.Root, "scripts/dataplane", name+".js"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestComparisonOfSeveralScenarios(t *testing.T) {
	d := bench.NewDataplane(t)
	withUsers(t, d)
	d.RunID = "cmp"
	dir, all, code := compare.Measure(d.Options, "dataplane-create, dataplane/disable", compare.Length{Most: time.Hour},
		compare.Request{SpecA: "proxy", SpecB: "other:queue=9", Bounds: compare.Bounds{WorseBy: 10}, Beds: noBeds})
	if code != exit.Pass || len(all) != 2 || d.Err.String() != "" {
		t.Fatalf("code %d, %+v\n%s%s", code, all, d.Out, d.Err)
	}
	var order []string
	for _, m := range regexp.MustCompile(`\[pair (\d+) ([ab])\] dataplane/(\w+)  pass`).FindAllStringSubmatch(d.Out.String(), -1) {
		order = append(order, m[2]+m[1]+" "+m[3])
	}
	if got := strings.Join(order, ", "); !strings.HasPrefix(got, "a1 create, a1 disable, b1 create, b1 disable, b2 create, b2 disable, a2 create, a2 disable, a3 create, ") {
		t.Errorf("order %s", got)
	}
	events := read(t, d.Events)
	if got := strings.Count(events, "start proxy"); got != 24 || strings.Count(events, "start other") != 24 || strings.Count(events, "args ") != 1 {
		t.Errorf("events\n%s", events)
	}
	if m := all[1].A[1]; m.Result.Run.ID != "cmp-dataplane-disable-pair02-a" || m.File != "pair02-a/dataplane-disable.json" || m.Pair != 2 {
		t.Errorf("%+v", m)
	}
	set := compare.MakeSet(all)
	if err := set.Write(dir); err != nil || set.ExitCode() != exit.Fail {
		t.Errorf("%v %d", err, set.ExitCode())
	}
	page := read(t, filepath.Join(dir, "compare.md"))
	for _, part := range []string{"| Metric | Baseline (proxy) | Candidate (other:queue=9) | Improvement |", "| disable users RPS | 249.0 | 166.0 | -33.33% | -33.33% to -33.33% | &lt;0.001 | worse, beyond the bound |",
		"| create users avg latency | 100 ms | 151 ms | +50.00% |", "| create users success rate | 100% | 100% | 0.00 pp |",
		"| create users: database (ms) | 60.2 | 90.4 | +50.00% | +50.00% to +50.00% | &lt;0.001 | worse |",
		"Where the time goes: create users: A: database in 12 of 12 runs; B: database in 12 of 12 runs"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
	if alone := read(t, filepath.Join(dir, "dataplane-disable/compare.json")); !strings.Contains(alone, `"id": "cmp/dataplane-disable"`) {
		t.Errorf("%s", alone)
	}
	read(t, filepath.Join(dir, "dataplane-create/pair01-b/logs/dataplane-create.k6.log"))
	if parts := compare.OfSet(dir); len(parts) != 2 || filepath.Base(parts[0]) != "dataplane-create" {
		t.Errorf("%v", parts)
	}
	if parts := compare.OfSet(filepath.Join(dir, "dataplane-create")); len(parts) != 0 {
		t.Errorf("%v", parts)
	}
	if _, err := report.Load([]string{dir}); err == nil || !strings.Contains(err.Error(), "is a comparison") {
		t.Error(err)
	}
}

func TestSidesRunAtOnceWhereAScriptAllowsIt(t *testing.T) {
	for about, c := range map[string]struct {
		environ []string
		inTurn  bool
		atOnce  bool
	}{
		"by default":                        {nil, false, true},
		"AT_ONCE=off":                       {nil, true, false},
		"the sidecar counts for both sides": {[]string{"LIMITS=cpu:50%"}, false, false},
	} {
		d := bench.NewDataplane(t, c.environ...)
		withUsers(t, d)
		path := filepath.Join(d.Root, "scripts/dataplane/create.js")
		text := strings.Replace(read(t, path), "iterations: 1 }", "iterations: 1, ext: { windtunnel: { at_once: true } } }", 1)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		d.RunID, d.InTurn = "cmp", c.inTurn
		dir, all, code := compare.Measure(d.Options, "dataplane/create", compare.Length{Pairs: 2}, compare.Request{SpecA: "proxy", SpecB: "other", Beds: noBeds})
		if code != exit.Pass || len(all[0].A) != 2 || len(all[0].B) != 2 {
			t.Fatalf("code %d, %+v\n%s%s", code, all, d.Out, d.Err)
		}
		for _, pair := range []string{"pair01", "pair02"} {
			a, errA := run.Read(filepath.Join(dir, pair+"-a"))
			b, errB := run.Read(filepath.Join(dir, pair+"-b"))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if atOnce := a.Start.Before(*b.End) && b.Start.Before(*a.End); atOnce != c.atOnce {
				t.Errorf("%s: %s: A from %s to %s, B from %s to %s", about, pair, a.Start, a.End, b.Start, b.End)
			}
		}
	}
}

func TestComparisonStreamsEachRun(t *testing.T) {
	var mu sync.Mutex
	var text bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = text.ReadFrom(unpacked)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	d := bench.NewDataplane(t, "INFLUX="+server.URL)
	d.RunID = "cmp"
	if _, _, code := compare.Measure(d.Options, "dataplane-tell", compare.Length{Pairs: 1}, compare.Request{SpecA: "proxy", SpecB: "other", Beds: noBeds}); code != exit.Pass || d.Err.String() != "" {
		t.Fatalf("code %d\n%s%s", code, d.Out, d.Err)
	}
	if got := strings.Count(d.Out.String(), "streaming to "+server.URL); got != 1 {
		t.Errorf("%d lines tell\n%s", got, d.Out)
	}
	for _, side := range []string{"a", "b"} {
		for _, kind := range []string{"turn_start,profile=smoke,scenario=-,system=-", "start,profile=smoke,scenario=tell,system=dataplane",
			"scenario,profile=smoke,scenario=tell,system=dataplane", "turn_end,profile=smoke,scenario=-,system=-"} {
			if line := "events,kind=" + kind + ",testid=cmp-pair01-" + side + " "; strings.Count(text.String(), line) != 1 {
				t.Errorf("no %s in\n%s", line, text.String())
			}
		}
	}
}

func TestComparisonRunsInTurn(t *testing.T) {
	d := bench.NewDataplane(t)
	d.RunID = "cmp"
	dir, all, code := compare.Measure(d.Options, "dataplane-tell", compare.Length{Pairs: 3}, compare.Request{SpecA: "proxy", SpecB: "other:queue=9", Bounds: compare.Bounds{WorseBy: 10}, Beds: noBeds})
	if code != exit.Pass || len(all) != 1 || len(all[0].A) != 3 || len(all[0].B) != 3 {
		t.Fatalf("code %d, %+v\n%s%s", code, all, d.Out, d.Err)
	}
	q := all[0]
	var order string
	for _, m := range regexp.MustCompile(`start (proxy|other) .*"queue":(\d)`).FindAllStringSubmatch(read(t, d.Events), -1) {
		order += m[1][:1] + m[2]
	}
	if order != "p5o9o9p5p5o9" {
		t.Errorf("order %s", order)
	}
	if got := strings.Count(read(t, d.Events), "args "); got != 1 {
		t.Errorf("%d sidecars", got)
	}
	for _, name := range []string{"pair01-a/dataplane-tell.json", "pair03-b/dataplane-tell.json", "pair02-a/logs/dataplane-tell.k6.log", "pair02-a/run.json", "logs/sidecar.log"} {
		read(t, filepath.Join(dir, name))
	}
	if q.A[1].Result.Run.ID != "cmp-pair02-a" || q.A[1].File != "pair02-a/dataplane-tell.json" || q.A[1].Outcome != "pass" {
		t.Errorf("%+v", q.A[1])
	}
	if _, err := os.Lstat(filepath.Join(d.Root, "results/latest")); err == nil {
		t.Error("results/latest is a comparison")
	}
	c := compare.Make(q)
	if err := c.Write(dir); err != nil || c.ID != "cmp" || c.PlannedPairs != 3 || c.ExitCode() != exit.Inconclusive {
		t.Errorf("%v %+v", err, c.Reasons)
	}
	if _, err := report.Load([]string{dir}); err == nil || !strings.Contains(err.Error(), "is a comparison") {
		t.Error(err)
	}
	if set, err := report.Load([]string{filepath.Join(dir, "pair02-b")}); err != nil || set.ExitCode() != exit.Pass {
		t.Error(err)
	}
	a, b := compare.OfComparison(dir)
	if len(a) != 3 || len(b) != 3 {
		t.Errorf("%v %v", a, b)
	}
	loaded, err := compare.Load(a, "")
	if err != nil || len(loaded) != 3 {
		t.Errorf("%v %v", loaded, err)
	}
	if !strings.Contains(d.Out.String(), "[pair 2/3 b] dataplane/tell  pass") || d.Err.String() != "" {
		t.Errorf("%s%s", d.Out, d.Err)
	}
}

func TestComparisonRefusedBeforeItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		scenario, a, b string
		environ        []string
		code           int
		says           string
	}{
		"scenario":      {"dataplane/tel", "proxy", "other", nil, exit.Usage, "unknown scenario dataplane/tel; did you mean dataplane/tell?"},
		"a system":      {"dataplane", "proxy", "other", nil, exit.Usage, `scenario "dataplane": give SYSTEM/NAME, several with commas`},
		"half a name":   {"dataplane/", "proxy", "other", nil, exit.Usage, `scenario "dataplane/": give SYSTEM/NAME`},
		"no scenario":   {" ,", "proxy", "other", nil, exit.Usage, "no scenario: give SYSTEM/NAME"},
		"one unknown":   {"dataplane/tell,dataplane/tel", "proxy", "other", nil, exit.Usage, "unknown scenario dataplane/tel; did you mean"},
		"one twice":     {"dataplane/tell,dataplane-tell", "proxy", "other", nil, exit.Usage, "scenario dataplane/tell is given twice"},
		"two systems":   {"dataplane/tell,pulsar/passes", "proxy", "other", nil, exit.Usage, "testbeds/proxy.toml does not start the system pulsar of pulsar/passes"},
		"testbed":       {"dataplane/tell", "proxy", "othr", nil, exit.Usage, `there is no testbed "othr"; there are: bare, needy, other, proxy, pulsar-relay; did you mean other?`},
		"other system":  {"dataplane/tell", "proxy", "pulsar-relay", nil, exit.Usage, "starts the system pulsar"},
		"variable":      {"dataplane/tell", "proxy:queue=x", "other", nil, exit.Usage, "testbed proxy: variable queue: is a string, and must be an integer"},
		"placement":     {"dataplane/tell", "proxy", "proxy:cpus=7", nil, exit.Usage, "do not run on the same CPUs"},
		"profile":       {"dataplane/tell", "proxy", "other", []string{"PLACEMENT=x"}, exit.Usage, "unknown placement x"},
		"first set-up":  {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=refuse"}, exit.Setup, "pair01-a: testbed proxy: port 8081 is taken"},
		"left out":      {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=unfit"}, exit.Setup, "pair01-a: testbed proxy: testbed own makes network namespaces"},
		"sidecar":       {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=dead"}, exit.Setup, "cannot read testbeds"},
		"sidecar dies":  {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=vanish"}, exit.Setup, "the sidecar ended (exit status 3): out of luck"},
		"existing name": {"dataplane/tell", "proxy", "other", nil, exit.Usage, "results/taken exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			d := bench.NewDataplane(t, c.environ...)
			d.RunID = "cmp" // in random order, A is the first side
			if name == "existing name" {
				d.RunID = "taken"
				if err := os.MkdirAll(filepath.Join(d.Root, "results/taken"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, code := compare.Measure(d.Options, c.scenario, compare.Length{Pairs: 6}, compare.Request{SpecA: c.a, SpecB: c.b}); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			if text := d.Err.String(); !strings.Contains(text, c.says) || strings.Count(text, "\n") != 1 {
				t.Errorf("%q, want one line with %q", text, c.says)
			}
		})
	}
}

func TestTheSameIsMeasuredOnlyWhereItIsMeant(t *testing.T) {
	d := bench.NewDataplane(t)
	if _, _, code := compare.Measure(d.Options, "dataplane/tell", compare.Length{Pairs: 1}, compare.Request{SpecA: "proxy", SpecB: " proxy"}); code != exit.Inconclusive {
		t.Errorf("code %d", code)
	}
	if text := d.Err.String(); !strings.HasPrefix(text, "A and B are the same, with the same settings (proxy): nothing is measured; ") || strings.Count(text, "\n") != 1 {
		t.Errorf("%s", text)
	}
	if _, err := os.Stat(filepath.Join(d.Root, "results", "test")); err == nil {
		t.Error("a folder is left")
	}
	d = bench.NewDataplane(t)
	d.Same = true
	if _, all, code := compare.Measure(d.Options, "dataplane/tell", compare.Length{Pairs: 1}, compare.Request{SpecA: "proxy", SpecB: "proxy", Beds: noBeds}); code != exit.Pass || len(all) != 1 || len(all[0].B) != 1 {
		t.Errorf("code %d %s", code, d.Err)
	}
}

// programs are two files; the second has the given content.
func programs(t *testing.T, second string) (a, b string) {
	t.Helper()
	dir := t.TempDir()
	a, b = filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for path, text := range map[string]string{a: "abc", b: second} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

func TestProgramsAreToldByTheirBytes(t *testing.T) {
	a, b := programs(t, "abc")
	d := bench.NewDataplane(t)
	if _, _, code := compare.Measure(d.Options, "dataplane/tell", compare.Length{Pairs: 1}, compare.Request{SpecA: "proxy:binary=" + a, SpecB: "proxy:binary=" + b}); code != exit.Inconclusive {
		t.Errorf("code %d\n%s", code, d.Out)
	}
	if text := d.Err.String(); !strings.Contains(text, "(program ba7816bf8f01): nothing is measured") {
		t.Errorf("%s", text)
	}
	d = bench.NewDataplane(t)
	_, all, code := compare.Measure(d.Options, "dataplane/tell", compare.Length{Pairs: 1}, compare.Request{SpecA: "proxy:binary=" + a, SpecB: "proxy:binary=" + b + ",queue=9", Beds: noBeds})
	if code != exit.Pass {
		t.Fatalf("other settings: code %d\n%s", code, d.Err)
	}
	if c := compare.Make(all[0]); c.B.Contents["program"] != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%v", c.B.Contents)
	}
}

func TestAProgramThatChangesIsNotCompared(t *testing.T) {
	a, b := programs(t, "def")
	d := bench.NewDataplane(t)
	go func() {
		if busy.Until(time.Minute, func() bool { return strings.Contains(d.Out.String(), "[pair 1/2 ") }) {
			_ = os.WriteFile(b, []byte("built anew"), 0o755)
		}
	}()
	_, all, code := compare.Measure(d.Options, "dataplane/tell", compare.Length{Pairs: 2}, compare.Request{SpecA: "proxy:binary=" + a, SpecB: "proxy:binary=" + b, Beds: noBeds})
	if want := "the program of B changed during the measurement: "; code != exit.Usage || all != nil || !strings.HasPrefix(d.Err.String(), want) {
		t.Errorf("code %d, %s", code, d.Err)
	}
}

func TestInterruptedComparisonKeepsWhatItHas(t *testing.T) {
	for scenarios, last := range map[string]string{"dataplane/tell": "[pair 2/9 b]", "dataplane/create,dataplane/disable": "[pair 2/9 b] dataplane/create  "} {
		d := bench.NewDataplane(t)
		withUsers(t, d)
		go func() {
			if busy.Until(time.Minute, func() bool { return strings.Contains(d.Out.String(), last) }) {
				d.Signal <- syscall.SIGINT
			}
		}()
		_, all, code := compare.Measure(d.Options, scenarios, compare.Length{Pairs: 9}, compare.Request{SpecA: "proxy", SpecB: "other", Beds: noBeds})
		if code != exit.Pass || len(all) != strings.Count(scenarios, "/") {
			t.Fatalf("code %d, %+v\n%s%s", code, all, d.Out, d.Err)
		}
		for _, q := range all {
			if !q.Interrupted || len(q.A) > 4 || len(q.B) < 1 {
				t.Errorf("%s: %d and %d runs, %v", q.Scenario, len(q.A), len(q.B), q.Interrupted)
			}
			if c := compare.Make(q); c.ExitCode() != exit.Interrupted || c.Reasons[0] == "" {
				t.Errorf("%v", c.Reasons)
			}
		}
		if set := compare.MakeSet(all); set.ExitCode() != exit.Interrupted || !strings.Contains(set.Summary(), "verdict: interrupted") {
			t.Errorf("%s", set.Summary())
		}
	}
}
