// SPDX-License-Identifier: AGPL-3.0-only

package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.k6.io/k6/metrics"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/record"
)

const evidence = `{
  "operations": [{"name": "send", "title": "Send", "loop": "closed", "latency_is": "x", "bounds": {"p(95)": %BOUND%}}],
  "plan": {"iterations": 40}, "counts": {"iterations": %DONE%}, "load_s": 2,
  "run": {"system": "pulsar", "scenario": "ingest", "profile": "smoke", "environment": "local"}, "notes": ["a note"]
}`

// written is a record of 40 requests of 1 to 40 ms.
func written(t *testing.T, bound, done string) string {
	t.Helper()
	return writtenAs(t, filepath.Join(t.TempDir(), "pulsar-ingest.record"), strings.NewReplacer("%BOUND%", bound, "%DONE%", done).Replace(evidence))
}

func writtenAs(t *testing.T, path, evidence string) string {
	t.Helper()
	r := record.New()
	tags := map[string]string{"operation": "send"}
	for n := range 40 {
		r.Series("operation_ms", metrics.Trend, tags).Add(float64(n + 1))
		r.Series("operation_failed", metrics.Rate, tags).Add(0)
	}
	r.Series("operation_items", metrics.Counter, tags).Add(40)
	r.Series("operation_clock_ms", metrics.Gauge, tags).Add(0)
	r.Series("operation_clock_ms", metrics.Gauge, tags).Add(2000)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := r.Write(file, []byte(evidence)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestARecordIsJudged(t *testing.T) {
	for _, c := range []struct {
		bound, done string
		code        int
		says        string
	}{
		{"100", "40", exit.Pass, "pulsar/ingest (smoke) on local: pass"},
		{"10", "40", exit.Fail, "send: P95 38.0 ms, at most 10 ms"},
		{"100", "30", exit.Inconclusive, "complete: 30 of 40 iterations: ended early"},
	} {
		var stdout, stderr bytes.Buffer
		code := Run(&stdout, &stderr, []string{filepath.Base(written(t, c.bound, c.done))}, false, "/nowhere")
		if code != exit.Usage || !strings.Contains(stderr.String(), "no such file") {
			t.Fatal(code, stderr.String())
		}
		path := written(t, c.bound, c.done)
		if code := Run(&stdout, &stderr, []string{filepath.Base(path)}, false, filepath.Dir(path)); code != c.code {
			t.Errorf("exit code %d, want %d: %s", code, c.code, stdout.String())
		}
		if !strings.Contains(stdout.String(), c.says) {
			t.Errorf("%q, want %q", stdout.String(), c.says)
		}
	}
}

func TestTheResultIsPrinted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	path := written(t, "100", "40")
	if code := Run(&stdout, &stderr, []string{path}, true, "/"); code != exit.Pass {
		t.Fatal(code, stderr.String())
	}
	var found struct {
		Verdict    string
		Operations []struct {
			RatePerS float64 `json:"rate_per_s"`
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &found); err != nil || found.Verdict != "pass" || found.Operations[0].RatePerS != 20 {
		t.Error(found, err)
	}
}

func TestWhatIsNoRecordIsRefusedInALine(t *testing.T) {
	whole, err := os.ReadFile(written(t, "100", "40"))
	if err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "short.record")
	if err := os.WriteFile(short, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		paths []string
		says  string
	}{
		{nil, "give the records of a run"},
		{[]string{"a", "b"}, "a: no such file or directory; b: no such file or directory"},
		{[]string{short}, "short.record: it was cut short"},
		{[]string{"judge.go"}, "judge.go: it is no windtunnel.record/2"},
	} {
		dir, _ := os.Getwd()
		var stdout, stderr bytes.Buffer
		if code := Run(&stdout, &stderr, c.paths, false, dir); code != exit.Usage || !strings.Contains(stderr.String(), c.says) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%d, %q, want %q", code, stderr.String(), c.says)
		}
	}
}

// writtenByTwo returns the records of two runners, in one folder.
func writtenByTwo(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for number := 1; number <= 2; number++ {
		runner := fmt.Sprintf(`,"runner":{"number":%d,"of":2,"segment":"x","start_offset_ms":%d}}`, number, number)
		whole := strings.NewReplacer("%BOUND%", "100", "%DONE%", "20", `"notes"`, `"headline":null,"notes"`).Replace(evidence)
		own := strings.TrimSuffix(strings.TrimSpace(whole), "}") + runner
		own = strings.Replace(own, `"run": {`, `"run": {"start":"2026-11-23T00:00:00Z","end":"2026-11-23T00:00:02Z","duration_s":2,`, 1)
		paths = append(paths, writtenAs(t, filepath.Join(dir, judge.FileOf("pulsar-ingest", number)), own))
	}
	return paths
}

func TestRecordsOfManyRunnersAreOneRun(t *testing.T) {
	paths := writtenByTwo(t)
	for _, given := range [][]string{paths, {filepath.Dir(paths[0])}} {
		var stdout, stderr bytes.Buffer
		if code := Run(&stdout, &stderr, given, true, "/"); code != exit.Pass {
			t.Fatal(code, stdout.String(), stderr.String())
		}
		var found struct {
			Operations []struct{ Requests int }
			Runners    []struct {
				Record struct{ SHA256 string }
				Share  float64
			}
		}
		if err := json.Unmarshal(stdout.Bytes(), &found); err != nil || found.Operations[0].Requests != 80 || len(found.Runners) != 2 ||
			found.Runners[1].Share != 0.5 || len(found.Runners[0].Record.SHA256) != 64 {
			t.Errorf("%+v %v", found, err)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, paths[:1], false, "/"); code != exit.Inconclusive || !strings.Contains(stdout.String(), "runner 2: no record came") {
		t.Error(code, stdout.String())
	}
}

func TestAFolderMayHaveManyRuns(t *testing.T) {
	dir := t.TempDir()
	for name, bound := range map[string]string{"pulsar-ingest.record": "100", "pulsar-bulk.record": "10"} {
		writtenAs(t, filepath.Join(dir, name), strings.NewReplacer("%BOUND%", bound, "%DONE%", "40", "ingest", strings.Split(name, ".")[0]).Replace(evidence))
	}
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, []string{dir}, false, "/"); code != exit.Fail || !strings.Contains(stdout.String(), "ingest (smoke) on local: pass") ||
		!strings.Contains(stdout.String(), "bulk (smoke) on local: fail") {
		t.Error(code, stdout.String(), stderr.String())
	}
	for _, c := range []struct {
		given  []string
		asJSON bool
		says   string
	}{
		{[]string{dir}, true, "--json prints one result"},
		{[]string{dir, dir}, false, "give one folder, or records"},
		{[]string{t.TempDir()}, false, "no record is in it"},
	} {
		stderr.Reset()
		if code := Run(&stdout, &stderr, c.given, c.asJSON, "/"); code != exit.Usage || !strings.Contains(stderr.String(), c.says) {
			t.Error(code, stderr.String())
		}
	}
}
