// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"os"
	"path/filepath"
	"testing"
)

// A stored report is reproduced exactly. If a change of the report makes this fail, `bin/k6 x report FOLDER` updates it.
func TestKeptRunsArePrintedAsTheyWere(t *testing.T) {
	reports, err := filepath.Glob("../../../results/baselines/*/report.md")
	if err != nil || len(reports) == 0 {
		t.Fatalf("no kept runs: %v", err)
	}
	for _, path := range reports {
		set, err := Load([]string{filepath.Dir(path)})
		if err != nil {
			t.Error(err)
			continue
		}
		if set.Run == nil || len(set.Results) == 0 {
			t.Errorf("%s: no record, or no result", path)
		}
		printed, err := Markdown(set, Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(kept) != string(printed) {
			t.Errorf("%s is not what is printed today", path)
		}
	}
}
