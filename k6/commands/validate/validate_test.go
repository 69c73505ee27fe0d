// SPDX-License-Identifier: AGPL-3.0-only

package validate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
)

func TestRun(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../internal/bench/testdata/root")); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(root, "environments", "bad.json")
	for name, c := range map[string]struct {
		bad   string
		paths []string
		dir   string
		code  int
		says  string
	}{
		"all":             {"", nil, "", exit.Pass, "5 files valid\n"},
		"from below":      {"", nil, "scripts/pulsar", exit.Pass, "5 files valid\n"},
		"one":             {"", []string{"environments/loop.json"}, "", exit.Pass, "1 file valid\n"},
		"folder and file": {"", []string{"environments", "environments/loop.json"}, "", exit.Pass, "3 files valid\n"},
		"bad":             {"{", nil, "", exit.Usage, "environments/bad.json: line 1, column 1: bad JSON"},
		"missing":         {"", []string{"environments/none.json"}, "", exit.Usage, "environments/none.json: no such file or folder\n"},
		"other kind":      {"", []string{"scripts/pulsar/slow.js"}, "", exit.Usage, "must be a .json or .toml file"},
		"empty folder":    {"", []string{"scripts/panel"}, "", exit.Usage, "no .json or .toml file in it"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.bad != "" {
				if err := os.WriteFile(bad, []byte(c.bad), 0o644); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(bad)
			}
			var stdout, stderr bytes.Buffer
			if code := Run(&stdout, &stderr, c.paths, "", "", filepath.Join(root, c.dir)); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			if text := stdout.String() + stderr.String(); !strings.Contains(text, c.says) {
				t.Errorf("no %q in %q", c.says, text)
			}
		})
	}
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, nil, "", "", t.TempDir()); code != exit.Usage || !strings.Contains(stderr.String(), "WINDTUNNEL_ROOT") {
		t.Errorf("outside a checkout: %d %s", code, &stderr)
	}
}
