// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/junit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
)

var update = flag.Bool("update", false, "write the golden files anew")

func fixture(t *testing.T) Set {
	t.Helper()
	set, err := Load([]string{"testdata/run"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at `go test ./internal/report -update` and git diff. Got:\n%s", path, got)
	}
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		make    func(Set, Options) ([]byte, error)
		options Options
	}{
		"report.md":           {Markdown, Options{}},
		"report-reference.md": {Markdown, Options{Reference: true}},
		"report.xml":          {JUnit, Options{}},
	} {
		got, err := c.make(fixture(t), c.options)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, got)
	}
}

// TestMarkdownTablesAreWhole counts the cells of each row, because a stray pipe would shift them.
func TestMarkdownTablesAreWhole(t *testing.T) {
	text, err := Markdown(fixture(t), Options{Reference: true})
	if err != nil {
		t.Fatal(err)
	}
	unescaped := regexp.MustCompile(`(^|[^\\])\|`)
	width := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") {
			width = 0
			continue
		}
		cells := len(unescaped.FindAllString(line, -1))
		if width != 0 && cells != width {
			t.Errorf("%d cells, the head has %d: %s", cells, width, line)
		}
		width = cells
	}
}

func TestHTMLEscapesAndStandsAlone(t *testing.T) {
	data, err := HTML(fixture(t), Options{Reference: true})
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, bad := range []string{"<script", "<b>x", "<subscribers>", " src=", "url(", "@import", "<link", "ZgotmplZ", "%!"} {
		if strings.Contains(text, bad) {
			t.Errorf("holds %q", bad)
		}
	}
	for _, good := range []string{"&lt;script&gt;", "99.96%", "prefers-color-scheme: dark", "<svg", "set-up failed",
		"nothing listens at", "brand new kind", "another machine: macOS, 2025-10-13"} {
		if !strings.Contains(text, good) {
			t.Errorf("lacks %q", good)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("id %s twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !ids[m[1]] {
			t.Errorf("a link to %s, which is not there", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|action)="([^#"][^"]*)"`).FindAllStringSubmatch(text, -1) {
		t.Errorf("a link out: %s", m[1])
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	set := fixture(t)
	for i := range set.Results {
		drawn := charts(&set.Results[i])
		if len(drawn) == 0 {
			t.Errorf("%s has no chart", set.Results[i].Name())
		}
		for _, svg := range drawn {
			dec := xml.NewDecoder(strings.NewReader(string(svg)))
			for {
				token, err := dec.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%v in %s", err, svg)
				}
				start, ok := token.(xml.StartElement)
				for _, a := range start.Attr {
					if x, err := strconv.ParseFloat(a.Value, 64); ok && a.Name.Local == "cx" && (err != nil || x < plotLeft || x > plotRight) {
						t.Errorf("a mark at %s is outside the plot", a.Value)
					}
				}
			}
		}
	}
	if got := charts(nil); got != nil {
		t.Error("a chart of nothing")
	}
	if got := charts(&result.Result{}); got != nil {
		t.Errorf("a chart of an empty result: %v", got)
	}
}

func TestJUnitCountsAreTrue(t *testing.T) {
	data, err := JUnit(fixture(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var suites junit.Suites
	if err := xml.Unmarshal(data, &suites); err != nil {
		t.Fatal(err)
	}
	tests, failures := 0, 0
	for _, s := range suites.Suites {
		failed, skipped, errors := 0, 0, 0
		for _, c := range s.Cases {
			switch {
			case c.Failure != nil:
				failed++
			case c.Error != nil:
				errors++
			case c.Skipped != nil:
				skipped++
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != failed || s.Skipped != skipped || s.Errors != errors {
			t.Errorf("%s: says %d/%d/%d/%d, holds %d/%d/%d/%d", s.Name, s.Tests, s.Failures, s.Skipped, s.Errors,
				len(s.Cases), failed, skipped, errors)
		}
		tests, failures = tests+s.Tests, failures+failed
	}
	if suites.Tests != tests || suites.Failures != failures || len(suites.Suites) != 5 {
		t.Errorf("%d tests, %d failures, %d suites", suites.Tests, suites.Failures, len(suites.Suites))
	}
}

func TestVerdict(t *testing.T) {
	one := func(verdict string) result.Result {
		return result.Result{Run: result.Run{System: "s", Scenario: "a"}, Verdict: verdict}
	}
	record := func(outcomes ...string) *run.Run {
		r := &run.Run{}
		for i, o := range outcomes {
			r.Scenarios = append(r.Scenarios, run.Scenario{System: "s", Scenario: string(rune('a' + i)), Outcome: o})
		}
		return r
	}
	ended := func(code int, outcomes ...string) *run.Run {
		r := record(outcomes...)
		r.ExitCode = &code
		return r
	}
	for name, c := range map[string]struct {
		set  Set
		want string
	}{
		"nothing":               {Set{}, result.Inconclusive},
		"a file that passes":    {Set{nil, []result.Result{one("pass")}}, result.Pass},
		"a file that fails":     {Set{nil, []result.Result{one("fail")}}, result.Fail},
		"recorded and passes":   {Set{record("pass"), []result.Result{one("pass")}}, result.Pass},
		"a planned one missing": {Set{record("pass", "planned"), []result.Result{one("pass")}}, result.Inconclusive},
		"a result that is gone": {Set{record("pass"), nil}, result.Inconclusive},
		"set-up failed":         {Set{record("pass", "set-up failed"), []result.Result{one("pass")}}, run.SetupFailed},
		"set-up beats fail":     {Set{record("fail", "set-up failed"), []result.Result{one("fail")}}, run.SetupFailed},
		"interrupted":           {Set{record("interrupted"), []result.Result{one("pass")}}, run.Interrupted},
		"between scenarios":     {Set{ended(exit.Interrupted, "pass", "skipped"), []result.Result{one("pass")}}, run.Interrupted},
		"a full disk":           {Set{ended(exit.Setup, "pass"), []result.Result{one("pass")}}, run.SetupFailed},
		"k6 knew better":        {Set{record("fail"), []result.Result{one("pass")}}, result.Fail},
		"k6 was doubtful":       {Set{record("inconclusive"), []result.Result{one("pass")}}, result.Inconclusive},
		"bench was killed":      {Set{record("running"), []result.Result{one("pass")}}, result.Pass},
	} {
		if got := c.set.Verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestLoadFaults(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"empty folder": {[]string{dir}, "no result in it"},
		"no file":      {[]string{filepath.Join(dir, "x.json")}, "no such file"},
		"two folders":  {[]string{dir, dir}, "give one folder"},
		"no result":    {[]string{"testdata/run/run.json"}, "run.json: "},
	} {
		if _, err := Load(c.paths); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestReferenceNamesAllScenarios(t *testing.T) {
	for system, operations := range map[string]map[string]string{
		"pulsar": {"ingest": "publish", "bulk": "batch", "concurrent": "publish", "subscribe": "subscribe", "delivery": "deliver", "broadcast": "deliver"},
		"panel":  {"users-create": "create", "users-disable": "disable", "users-enable": "enable"},
	} {
		if len(references()[system]) == 0 {
			t.Errorf("no document of %s", system)
		}
		for _, p := range references()[system] {
			for scenario, operation := range operations {
				if p.cell(scenario, operation) == "—" {
					t.Errorf("%s: no figure of %s", p.Source, scenario)
				}
			}
		}
	}
}

// TestRecordOfARunWhoseDiskIsFull has a truncated result, and a record on the disk that does not mention it.
func TestRecordOfARunWhoseDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/run")); err != nil {
		t.Fatal(err)
	}
	record, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pulsar-ingest.json"), []byte(`{"schema": "windtunnel.result/2", "ru`), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range record.Scenarios {
		if record.Scenarios[i].Scenario == "ingest" {
			record.Scenarios[i].Outcome, record.Scenarios[i].Message, record.Scenarios[i].Result = run.SetupFailed, "malformed result", ""
		}
	}
	set, err := LoadRun(dir, &record)
	if err != nil || len(set.Results) != 2 {
		t.Errorf("%d results, %v", len(set.Results), err)
	}
	set, err = Load([]string{dir})
	if err == nil || !strings.Contains(err.Error(), "pulsar-ingest.json") || len(set.Results) != 2 {
		t.Errorf("by the record on the disk: %d results, %v", len(set.Results), err)
	}
}
