// SPDX-License-Identifier: AGPL-3.0-only

package comment

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/contents"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/redact"
)

// hidden are secrets that Markdown, GitHub's limit, XML or a line break would split.
var hidden = []string{"hunter22", "abcdef0123456789abcdef0123456789", "p_ss*word-_x_", "a<b>&\"c'd", ":tada:[x](y)", "-----BEGIN\nfirst\nsecond"}

const jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl"

func TestRun(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "log")
	lines := strings.Repeat("going on\n", 40) + "the build of head: password " + strings.Join(hidden, " and ") + " and " + jwt + "\n\n@everyone: exit status 1\n"
	if err := os.WriteFile(said, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	same := filepath.Join(dir, "same")
	if err := os.WriteFile(same, []byte("BASE and HEAD are the same (commit 1): nothing is built or measured; "+contents.MeasureSame+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := filepath.Abs("../../internal/report/testdata/run")
	if err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for name, c := range map[string]struct {
		o       Options
		code    int
		says    []string
		saysNot []string
	}{
		"a run":                        {Options{Paths: []string{results}}, exit.Pass, []string{"<!-- windtunnel gate ", "| pulsar/ingest "}, nil},
		"nothing":                      {Options{Paths: []string{empty}}, exit.Usage, []string{"no result in it"}, nil},
		"what it said":                 {Options{Paths: []string{empty}, Failed: said, Code: exit.Setup}, exit.Pass, []string{"set-up-failed", "@&#8203;everyone: exit status 1", "password " + strings.TrimSuffix(strings.Repeat(`\[secret\] and `, len(hidden)+1), " and ")}, append(hidden, jwt)},
		"the same bytes":               {Options{Paths: []string{empty}, Failed: same, Code: exit.Inconclusive}, exit.Pass, []string{"inconclusive-both-sides-are-the-same neutral -->", ": cannot tell: both sides are the same\n"}, nil},
		"strict, and the same bytes":   {Options{Paths: []string{empty}, Failed: same, Code: exit.Inconclusive, Strict: true}, exit.Pass, []string{"inconclusive-both-sides-are-the-same failure -->", ": ✗ cannot tell: both sides are the same\n"}, nil},
		"nothing that is inconclusive": {Options{Paths: []string{empty}, Failed: said, Code: exit.Inconclusive}, exit.Pass, []string{"inconclusive-something-is-missing failure -->", ": ✗ cannot tell: something is missing\n"}, nil},
		"another end than its result":  {Options{Paths: []string{results}, Failed: said, Code: exit.Pass}, exit.Pass, []string{"set-up-failed failure -->", "ended as pass"}, nil},
		"never a pass":                 {Options{Paths: []string{empty}, Failed: said, Code: exit.Pass}, exit.Pass, []string{"set-up-failed"}, []string{"✓"}},
		"no log":                       {Options{Paths: []string{empty}, Failed: "none"}, exit.Usage, []string{"--failed none: no such file"}, nil},
		"no folder":                    {Options{}, exit.Usage, []string{"give one folder"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			c.o.Name, c.o.Dir, c.o.Secrets = "gate", dir, hidden
			if code := Run(&stdout, &stderr, c.o, ""); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			text := stdout.String() + stderr.String()
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
			for _, part := range c.saysNot {
				if strings.Contains(text, part) {
					t.Errorf("%q in\n%s", part, text)
				}
			}
		})
	}
}

func TestJUnitHoldsNoSecret(t *testing.T) {
	for _, secret := range hidden {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte("token "+secret+"."))
		if got := redact.New(asXML(hidden)).Clean(b.String()); got != "token [secret]." {
			t.Errorf("%q: %s", secret, got)
		}
	}
}
