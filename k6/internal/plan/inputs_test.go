// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"os"
	"path/filepath"
	"testing"

	"windtunnel/k6/internal/exit"
)

func TestProgramsThatCannotRunAreRefused(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	protocols := []Scenario{{System: "protocols", Name: "matrix"}}
	for pair, says := range map[string]string{
		"CANDIDATE=/nope":     "CANDIDATE=/nope: no such file or directory; give the absolute path of a binary",
		"BASELINE=/nope":      "BASELINE=/nope: no such file or directory; give the absolute path of a binary",
		"CANDIDATE=" + dir:    "CANDIDATE=" + dir + ": a folder; give the absolute path of a binary",
		"CANDIDATE=" + plain:  "CANDIDATE=" + plain + ": not executable; give the absolute path of a binary",
		"CANDIDATE=/dev/null": "CANDIDATE=/dev/null: not a file; give the absolute path of a binary",
		"CANDIDATE=./xray":    "CANDIDATE=./xray: not an absolute path; give the absolute path of a binary",
		"BASELINE_FILTER=x":   "BASELINE_FILTER=x: not an absolute path; give the absolute path of a binary",
		"BASELINE=xray":       "BASELINE=xray: not an absolute path; give the absolute path of a binary",
		"CANDIDATE=xray":      "",
		"CANDIDATE=/bin/sh":   "",
		"CANDIDATE=":          "",
	} {
		o := Asked{Root: "../../..", Environ: []string{pair}}
		got := ""
		if f := o.checkPrograms(protocols); f != nil {
			got = f.Message
			if f.Code != exit.Usage {
				t.Errorf("%s: code %d", pair, f.Code)
			}
		}
		if got != says {
			t.Errorf("%s: %q", pair, got)
		}
		if o.checkPrograms([]Scenario{{System: "panel"}}) != nil {
			t.Errorf("%s: refused although nothing uses it", pair)
		}
	}
}
