// SPDX-License-Identifier: AGPL-3.0-only

package baseline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/testsupport/madeup"
)

// steady are factors of runs with little noise.
var steady = []float64{1, 1.01, 0.99, 1.02, 0.98, 1}

// kept makes a baseline of runs that are slower by these factors.
func kept(t *testing.T, root string, factors []float64) Baseline {
	t.Helper()
	var runs []string
	for i, factor := range factors {
		runs = append(runs, madeup.Run(t, root, fmt.Sprintf("kept-%02d", i), i, factor, nil))
	}
	folder, left, err := Keep(Keeping{Name: "good", Runs: runs, To: Folder(root), Beds: check.Beds("")})
	if err != nil || len(left) > 0 {
		t.Fatalf("kept %v: %v", left, err)
	}
	b, err := Find(root, "good")
	if err != nil || b.Folder != folder || len(b.Runs) != len(factors) {
		t.Fatalf("found %v: %v", b, err)
	}
	return b
}

func TestARunIsWithinBeyondOrUnclear(t *testing.T) {
	root := t.TempDir()
	b := kept(t, root, steady)
	for name, c := range map[string]struct {
		factor float64
		code   int
	}{
		"equal":  {1.01, exit.Pass},
		"faster": {0.7, exit.Pass},
		"near":   {1.25, exit.Inconclusive},
		"slower": {1.7, exit.Fail},
	} {
		folder := madeup.Run(t, root, "own-"+name, 30, c.factor, nil)
		j, err := b.Judge(folder, compare.Bounds{WorseBy: WorseBy}, check.Beds(""))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := j.ExitCode(); got != c.code {
			t.Errorf("%s: ends with %d, want %d:\n%s", name, got, c.code, j.Summary())
		}
		out := filepath.Join(folder, "baseline")
		if err := j.Write(out); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(out, "pulsar-ingest", "compare.md"))
		if err != nil || !strings.Contains(string(page), "one run is judged by runs of another day: their noise is known from 6 kept runs") {
			t.Errorf("%s: the page does not say what it is judged by: %v\n%s", name, err, page)
		}
	}
}

func TestOneKeptRunTellsGrossChanges(t *testing.T) {
	root := t.TempDir()
	b := kept(t, root, steady[:1])
	for factor, want := range map[float64]int{1: exit.Inconclusive, 2.5: exit.Fail} {
		j, err := b.Judge(madeup.Run(t, root, fmt.Sprintf("own-%g", factor), 30, factor, nil), compare.Bounds{WorseBy: WorseBy}, check.Beds(""))
		if err != nil || j.ExitCode() != want {
			t.Errorf("slower by %v: ends with %d, want %d: %v\n%s", factor, j.ExitCode(), want, err, j.Summary())
		}
	}
}

func TestAnotherMachineIsRefused(t *testing.T) {
	root := t.TempDir()
	b := kept(t, root, steady)
	own := madeup.Run(t, root, "own", 30, 1, func(r *result.Result) { r.Run.Host.CPUModel = "Xeon" })
	_, err := b.Judge(own, compare.Bounds{WorseBy: WorseBy}, check.Beds(""))
	const want = "this machine is of another class than the baseline's: they differ in CPU model (AMD EPYC 7763 64-Core Processor and Xeon)"
	if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("said %v, want … %s", err, want)
	}
	here := machine.Class{CPUModel: "Xeon", CPUs: 2, Kernel: "6", CongestionControl: "cubic"}
	if why := b.Excluded(here); !strings.Contains(why, "than the baseline good: they differ in CPU model (AMD EPYC 7763 64-Core Processor and Xeon)") {
		t.Errorf("before the run it says %q", why)
	}
	here.CPUModel = "AMD EPYC 7763 64-Core Processor"
	if why := b.Excluded(here); why != "" {
		t.Errorf("before the run of the same machine it says %q", why)
	}
	other := madeup.Run(t, root, "parameters", 31, 1, func(r *result.Result) { r.Run.Parameters["messages"] = 7.0 })
	if _, err := b.Judge(other, compare.Bounds{WorseBy: WorseBy}, check.Beds("")); err == nil || !strings.Contains(err.Error(), "parameter messages (1000 and 7)") {
		t.Errorf("of other parameters it says %v", err)
	}
}

func TestAScenarioThatWasNotKeptIsNoPass(t *testing.T) {
	root := t.TempDir()
	b := kept(t, root, steady)
	own := madeup.Run(t, root, "own", 30, 1, nil)
	bulk := madeup.Run(t, root, "other", 30, 1, func(r *result.Result) { r.Run.Scenario = "bulk" })
	if err := os.Rename(filepath.Join(bulk, "pulsar-ingest.json"), filepath.Join(own, "pulsar-bulk.json")); err != nil {
		t.Fatal(err)
	}
	j, err := b.Judge(own, compare.Bounds{WorseBy: WorseBy}, check.Beds(""))
	if err != nil || !slices.Equal(j.Missing, []string{"pulsar/bulk"}) || j.ExitCode() != exit.Inconclusive {
		t.Errorf("missing %v, ends with %d: %v", j.Missing, j.ExitCode(), err)
	}
}

func TestKeepLeavesOutLogsRecordsAndPages(t *testing.T) {
	root := t.TempDir()
	folder := madeup.Run(t, root, "a", 1, 1, nil)
	for _, name := range []string{"logs/k6.log", "pulsar-ingest.record", "report.html", ".part"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		records bool
		want    []string
	}{
		"plain":   {false, []string{"pulsar-ingest.json", "run.json"}},
		"records": {true, []string{"pulsar-ingest.json", "pulsar-ingest.record", "run.json"}},
	} {
		to := filepath.Join(t.TempDir(), "elsewhere")
		kept, _, err := Keep(Keeping{Name: name, Runs: []string{folder}, To: to, Records: c.records, Beds: check.Beds("")})
		if err != nil {
			t.Fatal(err)
		}
		var there []string
		entries, _ := os.ReadDir(filepath.Join(kept, "a"))
		for _, entry := range entries {
			there = append(there, entry.Name())
		}
		if !slices.Equal(there, c.want) {
			t.Errorf("%s: kept %v, want %v", name, there, c.want)
		}
		if b, err := Find("", filepath.Join(to, name)); err != nil || len(b.Runs) != 1 {
			t.Errorf("%s: a folder elsewhere is not found: %v %v", name, b, err)
		}
	}
}

func TestKeepRefuses(t *testing.T) {
	root := t.TempDir()
	kept(t, root, steady[:2])
	good := filepath.Join(root, "results", "kept-00")
	other := madeup.Run(t, root, "xeon", 3, 1, func(r *result.Result) { r.Run.Host.CPUModel = "Xeon" })
	version := madeup.Run(t, root, "version", 3, 1, func(r *result.Result) { r.Run.Versions["pulsar-relay"] = "0.3" })
	bad := false
	busy := madeup.Run(t, root, "busy", 3, 1, func(r *result.Result) {
		r.Verdict, r.Validity[0].OK = result.Inconclusive, &bad
	})
	for want, k := range map[string]Keeping{
		`NAME "../x": give letters`:                                                {Name: "../x", Runs: []string{good}},
		"is no folder of a run":                                                    {Name: "new", Runs: []string{root}},
		"the run kept-00 is in the baseline good already":                          {Name: "good", Runs: []string{good}},
		"the run xeon is in the baseline new already":                              {Name: "new", Runs: []string{other, other}},
		"the runs are of machines of different classes":                            {Name: "good", Runs: []string{other}},
		"they differ in versions":                                                  {Name: "good", Runs: []string{version}},
		"has no result that can be used: pulsar/ingest of busy will not be used: ": {Name: "new", Runs: []string{busy}},
	} {
		k.To, k.Beds = Folder(root), check.Beds("")
		_, _, err := Keep(k)
		if refused := (Refused{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("said %v, want … %s …", err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(Folder(root), "new")); err == nil {
		t.Error("what was refused left a folder")
	}
	if _, err := Find(root, "god"); err == nil || !strings.Contains(err.Error(), "good") {
		t.Errorf("of a misspelt name it says %v", err)
	}
}
