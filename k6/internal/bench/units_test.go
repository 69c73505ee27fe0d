// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestRedactorAcrossWrites(t *testing.T) {
	r := NewRedactor([]string{"s3cret/value", "s3cret/value-longer", "abc"})
	text := "a s3cret/value-longer b s3cret%2Fvalue c s3cret/value, abc, " + strings.Repeat("x", 100) + "s3cret/valu"
	want := "a [secret] b [secret] c [secret], abc, " + strings.Repeat("x", 100) + "s3cret/valu"
	for size := 1; size < len(text); size++ {
		var b bytes.Buffer
		w := r.Writer(&b)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Fatalf("in writes of %d: %q", size, b.String())
		}
	}
	var b bytes.Buffer
	w := NewRedactor(nil).Writer(&b)
	_, _ = w.Write([]byte("plain"))
	if b.String() != "plain" {
		t.Errorf("without secrets nothing is held back, got %q", b.String())
	}
}

func TestErrorMessage(t *testing.T) {
	for line, want := range map[string]string{
		`{"level":"error","msg":"Error: no relay at http://127.0.0.1:1; start it\n\tat setup (file:///x.js:3:53(8))\n"}`: "no relay at http://127.0.0.1:1; start it",
		`{"level":"error","msg":"test aborted: wrong password"}`:                                                         "wrong password",
		`{"level":"error","msg":"test aborted: dead at default (file:///tmp/a.js:4:65(11))"}`:                            "dead",
		`{"level":"error","msg":"Uncaught (in promise) Error: two\nlines"}`:                                              "two lines",
		`{"level":"info","msg":"fine"}`:                                                                                  "",
		`no JSON`:                                                                                                        "",
	} {
		if got, _ := errorMessage(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if _, console := errorMessage(`{"level":"error","msg":"x","source":"console"}`); !console {
		t.Error("not known as the console's")
	}
}

func TestScenariosInOrder(t *testing.T) {
	all, err := Scenarios("testdata/root")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.String())
	}
	want := "panel/create pulsar/slow pulsar/passes pulsar/crowded pulsar/doubtful pulsar/fails pulsar/forgets pulsar/garbles pulsar/leaks pulsar/refused"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s", got)
	}
	chosen, err := Select(all, " pulsar/refused , panel,pulsar/refused,")
	if err != nil || len(chosen) != 2 || chosen[0].String() != "panel/create" {
		t.Errorf("%v %v", chosen, err)
	}
}

func TestRunID(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	id := NewRunID("quick", now)
	if !regexp.MustCompile(`^20260102-020405-quick-[0-9a-f]{4}$`).MatchString(id) || !runIDPattern.MatchString(id) {
		t.Error(id)
	}
}

func TestReplaceLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "latest")
	for _, target := range []string{"a", "b"} {
		if err := replaceLink(link, target); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.Readlink(link); got != target {
			t.Errorf("points at %q", got)
		}
	}
	if err := errors.Join(os.Remove(link), os.WriteFile(link, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := replaceLink(link, "c"); err == nil {
		t.Error("a file was replaced")
	}
}

func TestScreen(t *testing.T) {
	var out, errOut bytes.Buffer
	s := NewScreen(&out, &errOut, true, 20)
	s.Progress("a line that is much longer than the screen")
	s.Error("fault")
	s.Line("next")
	if got := out.String(); got != "\r\x1b[Ka line that is muc…\r\x1b[Knext\n" {
		t.Errorf("%q", got)
	}
	out.Reset()
	s = NewScreen(&out, &errOut, false, 0)
	s.Progress("quiet")
	s.spoke = s.spoke.Add(-quietFor)
	s.Progress("alive")
	if got := out.String(); got != "alive\n" {
		t.Errorf("%q", got)
	}
}
