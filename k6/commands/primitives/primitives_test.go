// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
)

// evidence is a primitives.json like the sidecar's, with one pair of ciphers and the given number of rounds.
func evidence(rounds int) map[string]any {
	type object = map[string]any
	measurement := func(section, subject, operation, implementation string, bytes int, ns float64) object {
		var all []object
		for i := range rounds {
			median := ns * (1 + 0.001*float64(i%5))
			all = append(all, object{"median": median, "low": median, "high": median, "samples": 10, "iterations": 1000.0})
		}
		one := object{"section": section, "subject": subject, "operation": operation, "implementation": implementation, "rounds": all}
		if bytes > 0 {
			one["bytes"] = bytes
		}
		return one
	}
	return object{
		"schema": "windtunnel.primitives/2", "start_unix_s": 1, "duration_s": 2.5, "mode": "quick", "cpu": 1, "load": []float64{0, 0.1},
		"parameters": object{"rounds": rounds, "warm_up_ms": 10, "measure_ms": 35, "samples": 10, "resamples": 2000, "rules": []int{1000}, "most_regexes": 1000, "block_bytes": 1 << 28},
		"host":       object{"os": "Debian", "kernel": "6.1", "cpu_model": "AMD EPYC", "cpus": 2, "memory_bytes": 1 << 32},
		"rustc":      "rustc 1.95.0", "cpu_features": []string{"aes"}, "versions": object{"ring": "0.17.14"}, "known_answers": 7, "waited": 0.01,
		"measurements": []object{
			measurement("control", "control", "empty", "loop", 0, 0.3), measurement("control", "control", "work", "sha2", 0, 1000),
			measurement("control", "control", "work twice", "sha2", 0, 2000), measurement("control", "control", "work again", "sha2", 0, 1001),
			measurement("aead", "aes-256-gcm", "encrypt", "ring", 65536, 10000), measurement("aead", "chacha20-poly1305", "encrypt", "ring", 65536, 30000),
		},
		"skipped": []object{},
	}
}

func nobody(string) string { return "" }

// write writes the evidence of a run into its folder.
func write(t *testing.T, dir string, told any) {
	t.Helper()
	text, err := json.Marshal(told)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "evidence"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "evidence", "primitives.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestARunOfThePrimitivesBecomesAResultAsAnyOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "primitives-20260102T030405Z")
	write(t, dir, evidence(16))
	for range 2 { // the second run replaces the first
		var stdout, stderr bytes.Buffer
		if code := Run(&stdout, &stderr, []string{filepath.Base(dir)}, filepath.Dir(dir), nobody); code != exit.Pass {
			t.Fatalf("%d: %s", code, &stderr)
		}
		page, err := os.ReadFile(filepath.Join(dir, "report.md"))
		if err != nil || string(page) != stdout.String() || !strings.Contains(stdout.String(), "| aes-256-gcm (3.00×) |") {
			t.Errorf("%v: printed: %s", err, &stdout)
		}
	}
	for _, name := range []string{"primitives-cpu.json", "run.json", "evidence/primitives.json"} {
		if problems := check.File("", filepath.Join(dir, name), name); len(problems) > 0 {
			t.Error(problems)
		}
	}
	junit, err := os.ReadFile(filepath.Join(dir, "report.xml"))
	if err != nil || !strings.Contains(string(junit), "twice the work") {
		t.Errorf("%s, %v", junit, err)
	}
	read, err := result.Read(filepath.Join(dir, "primitives-cpu.json"))
	if err != nil || read.Name() != "primitives/cpu" || read.Run.ID != filepath.Base(dir) || read.Run.DurationS != 2.5 || read.Verdict != result.Pass {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestWhatCannotBeTrustedIsInconclusive(t *testing.T) {
	dir := t.TempDir()
	busy := evidence(16)
	busy["waited"] = 0.4
	write(t, dir, busy)
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, []string{dir}, "/", nobody); code != exit.Inconclusive || !strings.Contains(stdout.String(), "waiting for the CPU: at most 40 % of a part") {
		t.Errorf("%d: %s%s", code, &stdout, &stderr)
	}
}

func TestItIsStreamedWhereTheVariablesSaySo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, evidence(16))
	var mu sync.Mutex
	var sent strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		text, _ := io.ReadAll(body)
		mu.Lock()
		sent.Write(text)
		mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	given := map[string]string{"INFLUX": server.URL, "INFLUX_PASSWORD": "x"}
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, []string{dir}, "/", func(name string) string { return given[name] }); code != exit.Pass || stderr.Len() > 0 {
		t.Fatalf("%d: %s", code, &stderr)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, part := range []string{"verdicts,", "scenario=cpu", "section=ciphers", "ratio=3"} {
		if !strings.Contains(sent.String(), part) {
			t.Errorf("no %s in %s", part, sent.String())
		}
	}
}

func TestWhatIsMissingOrWrongIsOneLine(t *testing.T) {
	dir := t.TempDir()
	run := func(code int, want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		got := Run(&stdout, &stderr, args, dir, nobody)
		if lines := strings.Count(stderr.String(), "\n"); got != code || lines != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: %d, %q, want %q", args, got, &stderr, want)
		}
	}
	run(exit.Usage, "give one folder")
	run(exit.Usage, "give one folder", "a", "b")
	run(exit.Usage, "nothing/evidence/primitives.json: no such file; name a folder of `make primitives`", "nothing")
	write(t, dir, json.RawMessage(`"x"`))
	run(exit.Usage, "evidence/primitives.json", ".")
	wrong := evidence(16)
	wrong["mode"] = "fast"
	write(t, dir, wrong)
	run(exit.Usage, "mode", dir)
	none := evidence(16)
	none["measurements"] = none["measurements"].([]map[string]any)[1:]
	write(t, dir, none)
	run(exit.Setup, `did not measure the control "empty"; run make bin/primitives`, dir)
}
