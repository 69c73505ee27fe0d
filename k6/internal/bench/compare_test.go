// SPDX-License-Identifier: AGPL-3.0-only

package bench_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel/k6/internal/bench"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/testbed"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestComparisonRunsInTurn(t *testing.T) {
	d := bench.NewDataplane(t)
	d.RunID = "cmp"
	q := compare.Request{SpecA: "proxy", SpecB: "other:queue=9", WorseBy: 10, Beds: func(string) testbed.Testbed { return testbed.Testbed{} }}
	dir, code := compare.Measure(d.Options, "dataplane-tell", 3, &q)
	if code != exitcode.Pass || len(q.A) != 3 || len(q.B) != 3 {
		t.Fatalf("code %d, %d and %d runs\n%s%s", code, len(q.A), len(q.B), d.Out, d.Err)
	}
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
	if err := c.Write(dir); err != nil || c.ID != "cmp" || c.PlannedPairs != 3 || c.ExitCode() != exitcode.Inconclusive {
		t.Errorf("%v %+v", err, c.Reasons)
	}
	if _, err := report.Load([]string{dir}); err == nil || !strings.Contains(err.Error(), "is a comparison") {
		t.Error(err)
	}
	if set, err := report.Load([]string{filepath.Join(dir, "pair02-b")}); err != nil || set.ExitCode() != exitcode.Pass {
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
		"scenario":      {"dataplane/tel", "proxy", "other", nil, exitcode.Usage, "unknown scenario dataplane/tel; did you mean dataplane/tell?"},
		"a system":      {"dataplane", "proxy", "other", nil, exitcode.Usage, `scenario "dataplane": give one, as SYSTEM/NAME`},
		"testbed":       {"dataplane/tell", "proxy", "othr", nil, exitcode.Usage, `there is no testbed "othr"; there are: bare, needy, other, proxy, pulsar-relay; did you mean other?`},
		"other system":  {"dataplane/tell", "proxy", "pulsar-relay", nil, exitcode.Usage, "starts the system pulsar"},
		"variable":      {"dataplane/tell", "proxy:queue=x", "other", nil, exitcode.Usage, `variable queue: "x" is not an integer`},
		"placement":     {"dataplane/tell", "proxy", "proxy:cpus=7", nil, exitcode.Usage, "do not run on the same CPUs"},
		"profile":       {"dataplane/tell", "proxy", "other", []string{"PLACEMENT=x"}, exitcode.Usage, "unknown placement x"},
		"first set-up":  {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=refuse"}, exitcode.Setup, "pair01-a: testbed proxy: port 8081 is taken"},
		"sidecar":       {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=dead"}, exitcode.Setup, "cannot read testbeds"},
		"sidecar dies":  {"dataplane/tell", "proxy", "other", []string{"FAKE_SIDECAR=vanish"}, exitcode.Setup, "the sidecar ended (exit status 3): out of luck"},
		"existing name": {"dataplane/tell", "proxy", "other", nil, exitcode.Usage, "results/taken exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			d := bench.NewDataplane(t, c.environ...)
			if name == "existing name" {
				d.RunID = "taken"
				if err := os.MkdirAll(filepath.Join(d.Root, "results/taken"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			q := compare.Request{SpecA: c.a, SpecB: c.b}
			if _, code := compare.Measure(d.Options, c.scenario, 6, &q); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			if text := d.Err.String(); !strings.Contains(text, c.says) || strings.Count(text, "\n") != 1 {
				t.Errorf("%q, want one line with %q", text, c.says)
			}
		})
	}
}

func TestInterruptedComparisonKeepsWhatItHas(t *testing.T) {
	d := bench.NewDataplane(t)
	go func() {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if strings.Contains(d.Out.String(), "[pair 2/9 b]") {
				d.Signal <- syscall.SIGINT
				return
			}
		}
	}()
	q := compare.Request{SpecA: "proxy", SpecB: "other", Beds: func(string) testbed.Testbed { return testbed.Testbed{} }}
	if _, code := compare.Measure(d.Options, "dataplane/tell", 9, &q); code != exitcode.Pass || !q.Interrupted || len(q.A) > 4 || len(q.B) < 2 {
		t.Fatalf("code %d, %d and %d runs, %v\n%s%s", code, len(q.A), len(q.B), q.Interrupted, d.Out, d.Err)
	}
	if c := compare.Make(q); c.ExitCode() != exitcode.Interrupted || c.Reasons[0] == "" {
		t.Errorf("%v", c.Reasons)
	}
}
