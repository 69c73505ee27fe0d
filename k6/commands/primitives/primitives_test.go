// SPDX-License-Identifier: AGPL-3.0-only

package primitives

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/exitcode"
)

// result is a primitives.json as the sidecar writes it, with one pair of ciphers in so many rounds.
func result(rounds int) map[string]any {
	type object = map[string]any
	measurement := func(subject string, ns float64) object {
		var all []object
		for i := range rounds {
			median := ns * (1 + 0.001*float64(i%5))
			all = append(all, object{"median": median, "low": median, "high": median, "samples": 10, "iterations": 1000.0})
		}
		return object{"section": "aead", "subject": subject, "operation": "encrypt", "implementation": "ring", "bytes": 65536,
			"time_ns": object{"median": ns, "low": ns, "high": ns}, "bytes_per_s": 65536 / ns * 1e9, "rounds": all}
	}
	return object{
		"schema": "windtunnel.primitives/1", "start_unix_s": 1, "duration_s": 2.5, "mode": "quick", "cpu": 1, "load": []float64{0, 0.1},
		"parameters": object{"rounds": rounds, "warm_up_ms": 10, "measure_ms": 35, "samples": 10, "resamples": 2000, "rules": []int{1000}, "most_regexes": 1000, "block_bytes": 1 << 28},
		"host":       object{"os": "Debian", "kernel": "6.1", "cpu_model": "AMD EPYC", "cpus": 2, "memory_bytes": 1 << 32},
		"rustc":      "rustc 1.95.0", "cpu_features": []string{"aes"}, "versions": object{"ring": "0.17.14"}, "known_answers": 7,
		"measurements": []object{measurement("aes-256-gcm", 10000), measurement("chacha20-poly1305", 30000)},
		"skipped":      []object{}, "validity": []object{{"check": "plausible", "ok": true, "detail": "fine"}}, "verdict": "pass",
	}
}

func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWinnersAreAddedOnce(t *testing.T) {
	dir := t.TempDir()
	text, err := json.Marshal(result(16))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "primitives.json", text)
	write(t, dir, "primitives.md", []byte("# Primitives\n\nverdict: pass\n"))
	for range 2 { // the second time in place of the first
		var stdout, stderr bytes.Buffer
		if code := Run(&stdout, &stderr, []string{filepath.Base(dir)}, filepath.Dir(dir)); code != exitcode.Pass {
			t.Fatalf("%d: %s", code, &stderr)
		}
		if !strings.Contains(stdout.String(), "| aes-256-gcm (3.00×) |") {
			t.Errorf("printed: %s", &stdout)
		}
		page, err := os.ReadFile(filepath.Join(dir, "primitives.md"))
		if want := "# Primitives\n\nverdict: pass\n\n" + stdout.String(); err != nil || string(page) != want {
			t.Errorf("the page is %q, want %q (%v)", page, want, err)
		}
	}
	path := filepath.Join(dir, "primitives.json")
	if problems := check.File("", path, path); len(problems) > 0 {
		t.Error(problems)
	}
	var told struct {
		DurationS float64 `json:"duration_s"`
		Winners   []struct {
			Winner string  `json:"winner"`
			Factor float64 `json:"factor"`
		} `json:"winners"`
	}
	text, err = os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	if err != nil || told.DurationS != 2.5 || len(told.Winners) != 1 || told.Winners[0].Winner != "aes-256-gcm" {
		t.Errorf("%+v, %v", told, err)
	}
}

func TestWhatIsMissingOrWrongIsOneLine(t *testing.T) {
	dir := t.TempDir()
	run := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := Run(&stdout, &stderr, args, dir)
		if lines := strings.Count(stderr.String(), "\n"); code != exitcode.Usage || lines != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: %d, %q, want %q", args, code, &stderr, want)
		}
	}
	run("one folder is wanted")
	run("one folder is wanted", "a", "b")
	run("nothing/primitives.json: no such file; name a folder of `make primitives`", "nothing")
	write(t, dir, "primitives.json", []byte("{"))
	write(t, dir, "primitives.md", nil)
	run("bad JSON", ".")
	wrong := result(16)
	wrong["verdict"] = "fast"
	text, err := json.Marshal(wrong)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "primitives.json", text)
	run("verdict", dir)
}
