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
	"windtunnel/k6/internal/difference"
)

// TestCommentOfWhatWasWritten reads comparisons from files, like `k6 x comment`, and compares the comments.
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

func TestDoubtOfComparisons(t *testing.T) {
	unclear := Metric{Role: Primary, Outcome: string(difference.Unclear)}
	of := func(doubt string, metrics ...Metric) Comparison {
		return Comparison{Verdict: Inconclusive, Doubt: doubt, Metrics: metrics, Reasons: []string{"because " + doubt}}
	}
	for name, c := range map[string]struct {
		all         []Comparison
		want        string
		strict      bool
		why, ending string
	}{
		"noisy":                          {[]Comparison{of(TooNoisy, unclear)}, TooNoisy, false, "because too noisy", comment.Neutral},
		"noisy and strict":               {[]Comparison{of(TooNoisy, unclear)}, TooNoisy, true, "because too noisy", comment.Failure},
		"little time":                    {[]Comparison{of(TooLittleTime, unclear)}, TooLittleTime, false, "because too little time", comment.Neutral},
		"missing":                        {[]Comparison{of(IsMissing, unclear)}, IsMissing, false, "because something is missing", comment.Failure},
		"an old file":                    {[]Comparison{of("", unclear)}, TooNoisy, false, "because ", comment.Neutral},
		"an old file that judged none":   {[]Comparison{of("", Metric{Role: Shown})}, IsMissing, false, "because ", comment.Failure},
		"a doubt that nobody knew":       {[]Comparison{of("forged", unclear)}, IsMissing, false, "because forged", comment.Failure},
		"the gravest of several":         {[]Comparison{of(TooNoisy, unclear), of(IsMissing), of(TooLittleTime)}, IsMissing, false, ": because something is missing", comment.Failure},
		"time before noise":              {[]Comparison{of(TooNoisy, unclear), {Verdict: Pass}, of(TooLittleTime)}, TooLittleTime, false, ": because too little time", comment.Neutral},
		"a failure has no doubt":         {[]Comparison{of(IsMissing), {Verdict: Fail, Reasons: []string{"worse"}}}, "", false, ": worse", comment.Failure},
		"a pass has none":                {[]Comparison{{Verdict: Pass, Headline: "as fast", Doubt: IsMissing}}, "", true, "as fast", comment.Success},
		"an interrupted one is no doubt": {[]Comparison{{Verdict: Inconclusive, Interrupted: true, Doubt: TooNoisy, Reasons: []string{"cut"}}}, "", false, "cut", comment.Failure},
		"no comparison":                  {nil, IsMissing, false, nothing, comment.Failure},
	} {
		t.Run(name, func(t *testing.T) {
			made := Comment("gate", c.all)
			made.Strict = c.strict
			first := strings.Split(made.Markdown(), "\n")[1]
			if made.Doubt != c.want || made.Conclusion() != c.ending || !strings.HasSuffix(made.Why, c.why) || c.want != "" && !strings.HasSuffix(first, "cannot tell: "+c.want) {
				t.Errorf("%q, %s, %q, %q", made.Doubt, made.Conclusion(), made.Why, first)
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
