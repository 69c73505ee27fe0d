// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/plan"
	"windtunnel/k6/internal/variables"
)

func TestADisturbedScenarioIsMeasuredAgain(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		code    int
		again   int
	}{
		"quiet":              {[]string{"CROWDED=0"}, exit.Pass, 0},
		"disturbed once":     {[]string{"CROWDED=1"}, exit.Pass, 1},
		"disturbed twice":    {[]string{"CROWDED=2"}, exit.Pass, 2},
		"always disturbed":   {[]string{"CROWDED=9"}, exit.Inconclusive, variables.Most("AGAIN")},
		"at most once":       {[]string{"CROWDED=9", "AGAIN=1"}, exit.Inconclusive, 1},
		"not at all":         {[]string{"CROWDED=9", "AGAIN=0"}, exit.Inconclusive, 0},
		"lost beside others": {[]string{"CROWDED=1", "LOST=1"}, exit.Pass, 1},
		"not that alone":     {[]string{"CROWDED=9", "WRONG=1"}, exit.Inconclusive, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "local", "pulsar/crowded", c.environ...)
			if code := Run(tr.Options); code != c.code {
				t.Errorf("code %d, want %d\n%s%s", code, c.code, tr.out, tr.err)
			}
			record := tr.record(t)
			if told := record.Scenarios[0].Disturbed; len(told) != c.again {
				t.Errorf("measured again %d times, want %d: %q", len(told), c.again, told)
			}
			if c.again > 0 {
				most := variables.Most("AGAIN")
				if name == "at most once" {
					most = 1
				}
				want(t, tr.out.String(), fmt.Sprintf("neighbours: CPU 1: 40.0 %%: measured again (1 of %d at most)", most))
				page := tr.text(t, "results/test/report.md")
				want(t, page, "because the machine or the generator disturbed it. This is the last measurement. Before: neighbours: CPU 1: 40.0 %")
			}
		})
	}
}

func TestHowOftenItIsMeasuredAgainIsBounded(t *testing.T) {
	for _, given := range []string{"3", "-1", "1.5", "often"} {
		tr := newTrial(t, "local", "pulsar/passes", "AGAIN="+given)
		if code := Run(tr.Options); code != exit.Usage {
			t.Errorf("AGAIN=%s: code %d", given, code)
		}
		want(t, tr.err.String(), variables.Wrong("AGAIN", given, true)+"\n")
	}
}

func TestADoubtOfAnotherKindIsNotMeasuredAgain(t *testing.T) {
	tr := newTrial(t, "local", "pulsar/doubtful")
	Run(tr.Options)
	if record := tr.record(t); len(record.Scenarios[0].Disturbed) > 0 {
		t.Errorf("%+v", record.Scenarios)
	}
}

// Streamed points cannot be withdrawn: a second measurement would add its points to the first one's.
func TestAStreamedScenarioIsMeasuredOnce(t *testing.T) {
	f := newFakeInflux(t, http.StatusNoContent)
	tr := newTrial(t, "local", "pulsar/crowded", "CROWDED=1", "INFLUX="+f.URL, "INFLUX_PASSWORD="+influxSecret)
	if code := Run(tr.Options); code != exit.Inconclusive {
		t.Errorf("code %d\n%s%s", code, tr.out, tr.err)
	}
	if got := f.find("verdicts"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// If the next measurement loses a runner, its old record must not count: `k6 x judge` would take it for a part of the
// same run.
func TestWhatASpoiltMeasurementLeftIsNoPartOfTheNext(t *testing.T) {
	j := job{scenario: plan.Scenario{System: "pulsar", Name: "ingest"}, dir: t.TempDir()}
	mine := []string{"pulsar-ingest.json", "pulsar-ingest.record", "pulsar-ingest.runner-1.record", "pulsar-ingest.runner-2.record"}
	for _, name := range append(mine, "pulsar-bulk.json", "pulsar-bulk.runner-1.record") {
		if err := os.WriteFile(filepath.Join(j.dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.forget(2); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(j.dir)
	if err != nil || len(left) != 2 || left[0].Name() != "pulsar-bulk.json" {
		t.Errorf("%v %v", left, err)
	}
}
