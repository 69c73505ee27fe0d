// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
)

const fixture = "../../internal/report/testdata/run"

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		o     Options
		code  int
		says  string
		files string
	}{
		"folder":          {Options{Paths: []string{fixture}}, exit.Setup, "verdict: set-up failed\n", "report.html report.md report.xml"},
		"one that passes": {Options{Paths: []string{fixture + "/pulsar-ingest.json"}, Formats: "md"}, exit.Pass, "verdict: pass", "report.md"},
		"one that doubts": {Options{Paths: []string{fixture + "/pulsar-delivery.json"}, Formats: "junit"}, exit.Inconclusive, "verdict: inconclusive", "report.xml"},
		"two files":       {Options{Paths: []string{fixture + "/pulsar-ingest.json", fixture + "/pulsar-bulk.json"}, Formats: "html"}, exit.Fail, "pulsar/bulk", "report.html"},
		"no argument":     {Options{}, exit.Usage, "give a run", ""},
		"bad format":      {Options{Paths: []string{fixture}, Formats: "md,htm"}, exit.Usage, `unknown format "htm"; did you mean`, ""},
		"no such run":     {Options{Paths: []string{"nothing"}}, exit.Usage, "nothing: no such file or folder", ""},
	} {
		t.Run(name, func(t *testing.T) {
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			c.o.Dir, c.o.Out = here, t.TempDir()
			if c.o.Formats == "" {
				c.o.Formats = "md,html,junit"
			}
			var stdout, stderr bytes.Buffer
			if code := Run(&stdout, &stderr, c.o); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			if text := stdout.String() + stderr.String(); !strings.Contains(text, c.says) {
				t.Errorf("no %q in %s", c.says, text)
			}
			found, _ := filepath.Glob(filepath.Join(c.o.Out, "*"))
			for i := range found {
				found[i] = filepath.Base(found[i])
			}
			if got := strings.Join(found, " "); got != c.files {
				t.Errorf("wrote %q, want %q", got, c.files)
			}
		})
	}
}

func TestNameOfARun(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"scripts", "environments", "results/r1"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(root, "results/r2"), os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := Run(&stdout, &stderr, Options{Paths: []string{"r2"}, Formats: "md", Dir: filepath.Join(root, "scripts")}); code != exit.Setup {
		t.Errorf("code %d: %s", code, &stderr)
	}
	if _, err := os.Stat(filepath.Join(root, "results/r2/report.md")); err != nil {
		t.Error(err)
	}
}
