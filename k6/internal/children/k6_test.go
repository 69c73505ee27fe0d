// SPDX-License-Identifier: AGPL-3.0-only

package children

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"windtunnel/k6/internal/redact"
)

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

// TestNoSignalAfterTheEnd checks that the pid still belongs to k6, as a zombie, when signals to it end.
func TestNoSignalAfterTheEnd(t *testing.T) {
	var pid int
	mine := false
	child := K6{Program: "true", Dir: t.TempDir(), LogPath: filepath.Join(t.TempDir(), "log"), Redactor: redact.New(nil),
		Started: func(p int) { pid = p },
		Ended: func(int) {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			mine = err == nil && strings.Contains(string(stat), ") Z ")
		}}
	if _, _, err := child.Run(); err != nil || !mine {
		t.Errorf("%v, the pid is the child's own: %v", err, mine)
	}
}

// TestNoSecretIsShownOrKept has a k6 whose last error names a password and a token.
func TestNoSecretIsShownOrKept(t *testing.T) {
	folder := t.TempDir()
	program, log := filepath.Join(folder, "k6"), filepath.Join(folder, "log")
	script := "#!/bin/sh\necho '{\"level\":\"error\",\"msg\":\"Error: pass-word at ws://h/?token=opaque\"}' >&2\nexit 107\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	nothing := func(int) {}
	child := K6{Program: program, Dir: folder, LogPath: log, Redactor: redact.New([]string{"pass-word"}), Started: nothing, Ended: nothing}
	code, message, err := child.Run()
	if err != nil || code != 107 || message != "[secret] at ws://h/?token=[secret]" {
		t.Errorf("code %d, %v: %q", code, err, message)
	}
	kept, err := os.ReadFile(log)
	if err != nil || strings.Contains(string(kept), "pass-word") || strings.Contains(string(kept), "opaque") || !strings.Contains(string(kept), "[secret]") {
		t.Errorf("the log: %v: %s", err, kept)
	}
}
