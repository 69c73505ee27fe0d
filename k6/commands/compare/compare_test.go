// SPDX-License-Identifier: AGPL-3.0-only

package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/builds"
	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
)

// results makes n files of the report's fixture, with latencies and rate scaled by factor. They start 20 s apart, from
// the first-th slot on.
func results(t *testing.T, dir, name string, n, first int, factor float64) []string {
	t.Helper()
	data, err := os.ReadFile("../../internal/report/testdata/dataplane/dataplane-socks-udp.json")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range n {
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		of := doc["run"].(map[string]any)
		start := time.Date(2026, 1, 2, 0, 0, first+20*i, 0, time.UTC)
		of["id"], of["start"], of["end"] = fmt.Sprintf("%s%d", name, i), start, start.Add(time.Second)
		f := factor * (1 + 0.001*float64((i*7)%5) + 1e-7*float64((i*7+first)%11))
		for _, row := range doc["operations"].([]any) {
			op := row.(map[string]any)
			op["window_s"] = op["success"].(float64) / op["rate_per_s"].(float64)
		}
		op := doc["operations"].([]any)[0].(map[string]any)
		for k, v := range op["latency_ms"].(map[string]any) {
			if k != "count" {
				op["latency_ms"].(map[string]any)[k] = v.(float64) * f
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("%s%d.json", name, i))
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestExisting(t *testing.T) {
	dir := t.TempDir()
	a := results(t, dir, "a", 14, 0, 1)
	same := results(t, dir, "same", 14, 10, 1)
	slow := results(t, dir, "slow", 14, 10, 1.5)
	late := results(t, dir, "late", 15, 1000, 1.5)
	other := filepath.Join(dir, "other.json")
	text, err := os.ReadFile(a[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, bytes.Replace(text, []byte(`"quick"`), []byte(`"full"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	fixture := "../../internal/report/testdata/"
	join := func(a, b []string) []string { return append(append([]string{}, a...), b...) }
	for name, c := range map[string]struct {
		o    Options
		code int
		says []string
	}{
		"same":         {Options{Paths: join(a, same), Dash: 14}, exit.Pass, []string{"verdict: pass, by 14 pairs in ", "\nUDP P95 (ms) "}},
		"slower":       {Options{Paths: join(a, slow), Dash: 14}, exit.Fail, []string{"UDP P50 is worse by more than 10 %: +50.", "worse, beyond the bound"}},
		"a loose gate": {Options{Paths: join(a, slow), Dash: 14, Bounds: compare.Bounds{WorseBy: 60}}, exit.Pass, []string{" worse\n"}},
		"unpaired":     {Options{Paths: join(a, late), Dash: 14}, exit.Fail, []string{"UDP P50 is worse by more than 10 %: +50."}},
		"one each":     {Options{Paths: []string{a[0], slow[0]}, Dash: -1}, exit.Inconclusive, []string{"one run each: no confidence", "not judged"}},
		"differ":       {Options{Paths: []string{a[0], other}, Dash: 1}, exit.Usage, []string{"cannot be compared: they differ in profile (quick and full)"}},
		"a folder":     {Options{Paths: []string{fixture + "dataplane", a[0]}, Dash: -1, Scenario: "dataplane/socks-udp"}, exit.Inconclusive, []string{"one run each"}},
		"which":        {Options{Paths: []string{fixture + "dataplane", a[0]}, Dash: -1}, exit.Usage, []string{"hold several scenarios: give --scenario, one or more of dataplane/concurrency, "}},
		"none of it":   {Options{Paths: []string{a[0], a[1]}, Dash: -1, Scenario: "dataplane/socks-upd"}, exit.Usage, []string{"A: ", "did you mean dataplane/socks-udp?"}},
		"no dash":      {Options{Paths: a, Dash: -1}, exit.Usage, []string{"give the runs of A, then --, then the runs of B"}},
		"one":          {Options{Paths: a[:1], Dash: -1}, exit.Usage, []string{"is no folder of a comparison"}},
		"nothing":      {Options{Dash: -1}, exit.Usage, []string{"give the runs of A"}},
		"missing":      {Options{Paths: []string{a[0], "nothing"}, Dash: -1}, exit.Usage, []string{"nothing: no such file or folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			c.o.Dir, c.o.Out = here, t.TempDir()
			if c.o.WorseBy == 0 {
				c.o.WorseBy = 10
			}
			var stdout, stderr bytes.Buffer
			if code := Existing(&stdout, &stderr, c.o); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			for _, part := range c.says {
				if !strings.Contains(stdout.String()+stderr.String(), part) {
					t.Errorf("no %q in\n%s%s", part, &stdout, &stderr)
				}
			}
			path := filepath.Join(c.o.Out, "compare.json")
			switch {
			case c.code == exit.Usage:
				if strings.Count(stderr.String(), "\n") != 1 {
					t.Errorf("not one line: %s", &stderr)
				}
			default:
				if problems := check.File("", path, "x"); len(problems) > 0 {
					t.Errorf("%v", problems)
				}
				if strings.Contains(stdout.String(), dir) {
					t.Error("shows a folder of this machine")
				}
			}
		})
	}
}

// ofScenario moves the files of results() into folders of runs of a comparison, for a scenario with that name.
func ofScenario(t *testing.T, dir, name, side string, files []string) {
	t.Helper()
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "dataplane-"+name, fmt.Sprintf("pair%02d-%s", i+1, side))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte(`"socks-udp"`), []byte(`"`+name+`"`), 1)
		if err := os.WriteFile(filepath.Join(folder, "dataplane-"+name+".json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExistingOfSeveralScenarios compares the folder of a comparison of two scenarios again; one of them is slower on B.
func TestExistingOfSeveralScenarios(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cmp")
	fast := results(t, t.TempDir(), "a", 18, 0, 1)
	for name, factor := range map[string]float64{"socks-udp": 1.5, "echo": 1} {
		ofScenario(t, dir, name, "a", fast)
		ofScenario(t, dir, name, "b", results(t, t.TempDir(), "b", 18, 10, factor))
	}
	mixed := func(side string) []string {
		var paths []string
		for _, name := range []string{"echo", "socks-udp"} {
			for pair := 1; pair <= 18; pair++ {
				paths = append(paths, filepath.Join(dir, "dataplane-"+name, fmt.Sprintf("pair%02d-%s", pair, side)))
			}
		}
		return paths
	}
	both := append(mixed("a"), mixed("b")...)
	for name, c := range map[string]struct {
		o     Options
		code  int
		says  []string
		wrote []string
	}{
		"all":        {Options{Paths: []string{dir}, Dash: -1}, exit.Fail, []string{"1 of 2 scenarios pass", "dataplane/echo: B is as fast as A", "dataplane/socks-udp: UDP P50 is worse by more than 10 %"}, []string{"compare.md", "dataplane-echo/compare.json", "dataplane-socks-udp/compare.md"}},
		"loose":      {Options{Paths: []string{dir}, Dash: -1, Bounds: compare.Bounds{WorseBy: 60}}, exit.Pass, []string{"2 of 2 scenarios pass"}, []string{"compare.md"}},
		"one of all": {Options{Paths: []string{dir}, Dash: -1, Scenario: "dataplane/echo"}, exit.Pass, []string{"1 of 1 scenarios pass"}, []string{"dataplane-echo/compare.json"}},
		"unknown":    {Options{Paths: []string{dir}, Dash: -1, Scenario: "dataplane/ech"}, exit.Usage, []string{"has no comparison of dataplane/ech; there are: dataplane-echo, dataplane-socks-udp"}, nil},
		"its folder": {Options{Paths: []string{filepath.Join(dir, "dataplane-echo")}, Dash: -1}, exit.Pass, []string{"B is as fast as A: 0 to 0 % ("}, []string{"compare.json"}},
		"a list":     {Options{Paths: both, Dash: 36, Scenario: "dataplane/socks-udp,dataplane/echo"}, exit.Fail, []string{"1 of 2 scenarios pass"}, []string{"dataplane-echo/compare.json"}},
		"no list":    {Options{Paths: both, Dash: 36}, exit.Usage, []string{"hold several scenarios: give --scenario, one or more of dataplane/echo, dataplane/socks-udp"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Dir, c.o.Out = t.TempDir(), t.TempDir()
			if c.o.WorseBy == 0 {
				c.o.WorseBy = 10
			}
			var stdout, stderr bytes.Buffer
			if code := Existing(&stdout, &stderr, c.o); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			for _, part := range c.says {
				if !strings.Contains(stdout.String()+stderr.String(), part) {
					t.Errorf("no %q in\n%s%s", part, &stdout, &stderr)
				}
			}
			for _, file := range c.wrote {
				path := filepath.Join(c.o.Out, file)
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
				if problems := check.File("", path, file); filepath.Ext(file) == ".json" && len(problems) > 0 {
					t.Errorf("%v", problems)
				}
			}
		})
	}
}

// TestRefusalNamesTheScenario has two scenarios; the sides of one differ in profile.
func TestRefusalNamesTheScenario(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cmp")
	fast := results(t, t.TempDir(), "a", 1, 0, 1)
	for _, name := range []string{"echo", "socks-udp"} {
		ofScenario(t, dir, name, "a", fast)
		ofScenario(t, dir, name, "b", results(t, t.TempDir(), "b", 1, 10, 1))
	}
	path := filepath.Join(dir, "dataplane-echo/pair01-b/dataplane-echo.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"quick"`), []byte(`"full"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := Existing(&stdout, &stderr, Options{Paths: []string{dir}, Dash: -1, Dir: dir, Out: t.TempDir(), Bounds: compare.Bounds{WorseBy: 10}})
	want := "dataplane/echo: these runs cannot be compared: they differ in profile (quick and full)\n"
	if code != exit.Usage || stderr.String() != want || stdout.Len() != 0 {
		t.Errorf("%d %q %s", code, &stderr, &stdout)
	}
}

func TestWrongForRuns(t *testing.T) {
	for want, o := range map[string]Options{
		"":                                 {A: "x", B: "y", Scenario: "s/n", Runs: "1"},
		"give both --a and --b":            {A: "x", Scenario: "s/n", Runs: "1"},
		"give --scenario":                  {A: "x", B: "y", Runs: "1"},
		"--runs 0: give auto, or 1 to 999": {A: "x", B: "y", Scenario: "s/n", Runs: "0"},
		"--runs abc: give auto, or 1 to":   {A: "x", B: "y", Scenario: "s/n", Runs: "abc"},
		"--minutes is of --runs auto":      {A: "x", B: "y", Scenario: "s/n", Runs: "6", Minutes: "5"},
		`unexpected argument "z" beside`:   {A: "x", B: "y", Scenario: "s/n", Runs: "1", Paths: []string{"z"}},
	} {
		if got := o.wrongForRuns(); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWrongForRows(t *testing.T) {
	made := func(variable string) map[string]string { return map[string]string{variable: "out/proxy"} }
	asked := func(variable string) builds.Asked { return builds.Asked{Base: "a", Head: "b", Made: made(variable)} }
	bed := asked("binary")
	bed.Testbed = "own-proxy"
	for name, c := range map[string]struct {
		o    Options
		says string // "" if valid
	}{
		"right":      {Options{Build: asked("binary")}, ""},
		"two there":  {Options{A: "/a", B: "/b"}, ""},
		"one there":  {Options{A: "/a"}, "give both --a and --b"},
		"a scenario": {Options{Build: asked("binary"), Scenario: "dataplane/socks-tcp"}, "takes the place of --scenario"},
		"a testbed":  {Options{Build: bed}, "takes the place of --scenario and --testbed"},
		"a source":   {Options{Build: asked("source")}, "takes --binary"},
		"a bound":    {Options{Build: asked("binary"), Judged: "worse-by"}, "--worse-by is not of --protocol"},
	} {
		c.o.Protocol, c.o.Runs = "socks", auto
		got := c.o.wrongForRuns()
		if (c.says == "") != (got == "") || !strings.Contains(got, c.says) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
