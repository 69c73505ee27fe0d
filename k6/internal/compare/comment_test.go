// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/comment"
)

// TestCommentOfWhatWasWritten reads comparisons back, as `k6 x comment` does, and tells what they told.
func TestCommentOfWhatWasWritten(t *testing.T) {
	few := ofUsers("few", noise(1), noise(2))
	few.A, few.B = few.A[:2], few.B[:2]
	for name, c := range map[string]struct {
		of               []Request
		says, junit      []string
		verdict, leftOut string
	}{
		"pass": {[]Request{ofUsers("a", noise(1), noise(2))}, []string{"### Windtunnel, gate: ✓ pass\n\n", "| Change a user rate", "within", "CPU per operation"},
			[]string{`failures="0" errors="0"`, `name="verdict"`}, "pass", "reasons</summary>"},
		"fail": {[]Request{ofUsers("b", noise(3), times(1.3, noise(4)))}, []string{"✗ fail", "Change a user rate is worse by more than 10 %: -2"},
			[]string{`type="fail"`, `panel.b`}, "fail", ""},
		"cannot tell": {[]Request{few}, []string{"cannot tell"}, []string{`errors="1"`, `type="inconclusive"`}, "inconclusive", ""},
		"several": {[]Request{ofUsers("a", noise(1), noise(2)), ofUsers("b", noise(3), times(1.3, noise(4)))},
			[]string{"✗ fail", "panel/b: Change a user rate is worse", "panel/a: Change a user rate"}, []string{`<testsuite name="panel/a"`, `<testsuite name="panel/b"`}, "fail", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := MakeSet(c.of)
			if err := s.Write(dir); err != nil {
				t.Fatal(err)
			}
			all, err := ReadAll(dir)
			if err != nil || len(all) != len(c.of) {
				t.Fatal(err, len(all))
			}
			made := Comment("gate", all)
			text := made.Markdown()
			xml, err := JUnit(all)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []struct {
				in   string
				want []string
			}{{text, c.says}, {string(xml), c.junit}} {
				for _, want := range of.want {
					if !strings.Contains(of.in, want) {
						t.Errorf("no %q in\n%s", want, of.in)
					}
				}
			}
			if made.Verdict != c.verdict || c.leftOut != "" && strings.Contains(text, c.leftOut) {
				t.Errorf("%s\n%s", made.Verdict, text)
			}
			if slices.ContainsFunc(made.Table.Rows, func(row []comment.Cell) bool { return len(row) != 3 || row[2][0] == "" }) {
				t.Errorf("%q", made.Table.Rows)
			}
		})
	}
}

func TestReadAllRefusesAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	if all, err := ReadAll(dir); err != nil || len(all) > 0 {
		t.Error(all, err)
	}
	data, _ := json.Marshal(Comparison{Schema: "windtunnel.comparison/1"})
	if err := os.WriteFile(filepath.Join(dir, FileName), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAll(dir); err == nil || !strings.Contains(err.Error(), "is no comparison of this version") {
		t.Error(err)
	}
}
