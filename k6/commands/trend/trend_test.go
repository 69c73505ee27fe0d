// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/testsupport/madeup"
)

// checkout is a folder that is accepted as a checkout.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"scripts", "environments"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// standIn writes a program that replaces Otava and reports a change of every series at a point.
func standIn(t *testing.T, at int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "otava")
	script := fmt.Sprintf(`#!/bin/sh
for name; do case $name in series*)
  echo '{"'$name'": [{"time": 1, "attributes": {}, "changes": [{"metric": "value", "index": %d, "mean_before": "0", "pvalue": "0.00001"}]}]}'
esac; done
`, at)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestChangesAreShownAndGateNothing(t *testing.T) {
	root := checkout(t)
	for i := range 12 {
		factor := 1 + 0.01*float64(i%2)
		if i >= 6 {
			factor *= 2
		}
		madeup.Run(t, root, fmt.Sprintf("run-%02d", i), i, factor, func(r *result.Result) { r.Run.Versions["pulsar-relay"] = fmt.Sprintf("0.%d.0", i) })
	}
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("run-%02d", i))
	}
	var stdout, stderr bytes.Buffer
	code := Run(&stdout, &stderr, Options{Paths: names, Otava: standIn(t, 6), Dir: root})
	if code != exit.Pass || stderr.Len() > 0 {
		t.Fatalf("ends with %d: %s%s", code, &stdout, &stderr)
	}
	for _, want := range []string{"12 of 12 points added", "\n  pulsar/ingest quick, testbed ", ": Publish rate -50.0 %, worse, since 2026-01-08", "(pulsar-relay 0.6.0; before it pulsar-relay 0.5.0)"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &stdout)
		}
	}
	pages, _ := filepath.Glob(filepath.Join(root, "results", "history", "trend-*.html"))
	if len(pages) != 1 {
		t.Fatalf("%d pages", len(pages))
	}
	page, err := os.ReadFile(pages[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", `class="change bad"`, "-50.0 %", "This holds for independent points", "pulsar-relay 0.6.0 (run-06)", "pulsar-relay 0.5.0 (run-05)"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page has no %s", want)
		}
	}
	if bytes.Contains(page, []byte("<script")) || bytes.Contains(page, []byte("http://")) {
		t.Error("the page needs something else")
	}
	stem := strings.TrimSuffix(pages[0], ".html")
	var bencher map[string]map[string]struct{ Value float64 }
	readInto(t, stem+".bencher.json", &bencher)
	if len(bencher) != 2 { // the operation, and the whole run
		t.Errorf("Bencher gets %v", bencher)
	}
	for name, measures := range bencher {
		if strings.HasSuffix(name, " publish") && measures["p50_ms"].Value < 1.3 {
			t.Errorf("%s: %v is not the latest P50", name, measures)
		}
	}
	var smaller, bigger []struct {
		Name, Unit, Extra string
		Value             float64
	}
	readInto(t, stem+".smaller.json", &smaller)
	readInto(t, stem+".bigger.json", &bigger)
	has := func(all []struct {
		Name, Unit, Extra string
		Value             float64
	}, end string) bool {
		for _, e := range all {
			if strings.HasSuffix(e.Name, end) && e.Value > 0 && e.Unit != "" && strings.Contains(e.Extra, "run-11") {
				return true
			}
		}
		return false
	}
	if !has(bigger, "Publish rate") || has(smaller, "Publish rate") || !has(smaller, "Publish P99") || has(bigger, "Publish P99") {
		t.Errorf("smaller %v, bigger %v", smaller, bigger)
	}

	stdout.Reset()
	if code := Run(&stdout, &stderr, Options{Paths: names[:1], Otava: standIn(t, 6), Dir: root}); code != exit.Pass || !strings.Contains(stdout.String(), "0 of 1 points added") {
		t.Errorf("a point that is there: ends with %d: %s", code, &stdout)
	}
}

func readInto(t *testing.T, path string, value any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	root := checkout(t)
	own := madeup.Run(t, root, "own", 1, 1, nil)
	madeup.Run(t, root, "other", 2, 1, func(r *result.Result) { r.Run.Host.CPUs = new(64) })
	otava := standIn(t, 1)
	file := filepath.Join(root, "one.jsonl")
	var out bytes.Buffer
	if code := Run(&out, &out, Options{Paths: []string{own}, History: file, Otava: otava, Dir: root}); code != exit.Pass {
		t.Fatalf("ends with %d: %s", code, &out)
	}
	for want, c := range map[string]struct {
		o    Options
		code int
	}{
		"the run other is of another class of machine than the history one.jsonl: they differ in CPUs (2 and 64)": {Options{Paths: []string{"other"}, History: file, Otava: otava}, exit.Usage},
		"is neither the folder of a run nor a baseline":                                                           {Options{Paths: []string{"nothing"}, Otava: otava}, exit.Usage},
		"cannot write the history: not a directory":                                                               {Options{Paths: []string{"own"}, History: "/dev/null/history.jsonl", Otava: otava}, exit.Setup},
		"no point in":                    {Options{Otava: otava}, exit.Usage},
		"Apache Otava is not installed:": {Options{Paths: []string{"own"}}, exit.Setup},
	} {
		var stdout, stderr bytes.Buffer
		c.o.Dir = root
		code := Run(&stdout, &stderr, c.o)
		if code != c.code || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("want %d and %q, got %d: %s%s", c.code, want, code, &stdout, &stderr)
		}
	}
}
