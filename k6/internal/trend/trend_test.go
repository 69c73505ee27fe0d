// SPDX-License-Identifier: AGPL-3.0-only

package trend

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel/k6/internal/check"
	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/testsupport/madeup"
)

const program = "../../../.venv/trend/bin/otava"

// made returns points of one group, a day apart, with the value of each metric.
func made(points int, metrics []string, value func(metric, point int) float64) []Point {
	var all []Point
	for i := range points {
		p := Point{Schema: Schema, Run: fmt.Sprintf("run-%02d", i), Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i),
			Class: machine.Class{CPUModel: "EPYC", CPUs: 2}, System: "pulsar", Scenario: "ingest", Title: "Ingest", Profile: "quick",
			Parameters: map[string]any{"messages": 1000.0}, Testbed: "pulsar-relay workers=1", Versions: map[string]string{"relay": fmt.Sprintf("0.%d", i)}}
		for m, name := range metrics {
			p.Figures = append(p.Figures, compare.Figure{Title: name, Name: name, Unit: "ms", Better: "lower", Value: value(m, i)})
		}
		all = append(all, p)
	}
	return all
}

func needOtava(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Skip("Apache Otava is not installed: run `make .venv/trend/.installed`")
	}
}

// A step of 5 % in noise of 2 % is found within 5 points of its position. At most two of 20 such series are reported
// as a creep. At most one of 20 flat series has a reported change or creep.
func TestAStepIsFoundAndFlatSeriesAreNot(t *testing.T) {
	needOtava(t)
	const points, step, series = 60, 35, 20
	var names []string
	for i := range 2 * series {
		names = append(names, fmt.Sprintf("m%02d", i))
	}
	random := rand.New(rand.NewPCG(1, 2))
	groups := History{Points: made(points, names, func(metric, point int) float64 {
		level := 0.0004
		if metric < series && point >= step {
			level *= 1.05
		}
		return level * (1 + 0.02*random.NormFloat64())
	})}.Groups()
	if err := Detect(program, groups); err != nil {
		t.Fatal(err)
	}
	flagged, crept := 0, 0
	for i, s := range groups[0].Series {
		switch {
		case i >= series && len(s.Changes)+len(s.Creeps) > 0:
			flagged++
		case i < series && len(s.Creeps) > 0:
			crept++
		case i < series && (len(s.Changes) == 0 || s.Changes[0].Index < step-5 || s.Changes[0].Index > step+5):
			t.Errorf("series %d: the step at %d is not found: %+v, %+v, %d are withheld", i, step, s.Changes, s.Creeps, s.Withheld)
		case i < series:
			if c := s.Changes[0]; len(s.Changes) == 1 && (c.Percent() < 3 || c.Percent() > 7 || s.Better(c)) {
				t.Errorf("series %d: a change of %.1f %%, for the better: %v", i, c.Percent(), s.Better(c))
			}
		}
	}
	if crept > 2 {
		t.Errorf("%d of %d steps are told as creeps", crept, series)
	}
	if flagged > 1 {
		t.Errorf("%d of %d flat series are flagged", flagged, series)
	}
}

func TestFewOrConstantValuesAreNoSeriesForOtava(t *testing.T) {
	few := History{Points: made(fewestPoints-1, []string{"a"}, func(_, point int) float64 { return float64(point) })}.Groups()
	constant := History{Points: made(30, []string{"a"}, func(int, int) float64 { return 1 })}.Groups()
	if err := Detect("/nonexistent/otava", append(few, constant...)); err != nil {
		t.Errorf("Otava was asked: %v", err)
	}
	steps := History{Points: made(30, []string{"a"}, func(_, point int) float64 { return float64(1 + point/15) })}.Groups()
	if err := Detect("/nonexistent/otava", steps); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a missing program is told as %v", err)
	}
}

func TestHistoryIsAppendOnlyAndOfOneClass(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	runs := []string{madeup.Run(t, root, "a", 1, 1, nil), madeup.Run(t, root, "b", 2, 1.1, nil)}
	other := madeup.Run(t, root, "c", 3, 1, func(r *result.Result) { r.Run.Host.CPUModel = "Xeon" })
	bad := false
	busy := madeup.Run(t, root, "d", 4, 1, func(r *result.Result) { r.Verdict, r.Validity[0].OK = result.Inconclusive, &bad })
	points, left, err := Points(append(runs, busy), "abc123", check.Beds(""))
	if err != nil || len(points) != 2 || len(left) != 1 || !strings.Contains(left[0], "is no point: ") {
		t.Fatalf("%d points, left %v: %v", len(points), left, err)
	}
	add := func(place string, points []Point) int {
		t.Helper()
		n, err := Add(place, points)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := add(folder, points[1:]); n != 1 {
		t.Errorf("added %d points, want 1", n)
	}
	file := filepath.Join(folder, points[0].Class.Key()+Extension)
	before, _ := os.ReadFile(file)
	if n := add(folder, points); n != 1 {
		t.Errorf("added %d points, want the one that was not there", n)
	}
	after, _ := os.ReadFile(file)
	if !strings.HasPrefix(string(after), string(before)) {
		t.Error("what was there is not as it was")
	}
	strange, _, err := Points([]string{other}, "", check.Beds(""))
	if err != nil {
		t.Fatal(err)
	}
	if n := add(folder, strange); n != 1 {
		t.Errorf("another machine's point was not added to a history of its own: %d", n)
	}
	all, err := Histories(folder)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d histories, want one for each class: %v", len(all), err)
	}
	h, err := Read(file)
	if err != nil || len(h.Points) != 2 || h.Points[0].Run != "a" || h.Points[0].Version() != "abc123" {
		t.Fatalf("read %+v: %v", h.Points, err)
	}
	if g := h.Groups(); len(g) != 1 || len(g[0].Points) != 2 || len(g[0].Series) < 5 {
		t.Errorf("%d groups: %+v", len(g), g)
	}
	_, err = Add(file, strange)
	if err == nil || !strings.Contains(err.Error(), "CPU model (AMD EPYC 7763 64-Core Processor and Xeon)") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a point of another machine is refused with %v", err)
	}
	if now, _ := os.ReadFile(file); string(now) != string(after) {
		t.Error("the refused point was written")
	}
}

func TestMalformedHistoryIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x"+Extension)
	for text, want := range map[string]string{
		"":                         "no point in",
		"{\"schema\":\"other\"}\n": "x.jsonl: line 1 is no point of a history",
		"{\"schema\":\"windtunnel.point/1\"}\n{\"sche": "x.jsonl: line 2 is no point of a history",
		"{\"schema\":\"windtunnel.point/1\",\"class\":{\"cpus\":2}}\n{\"schema\":\"windtunnel.point/1\",\"class\":{\"cpus\":4}}\n": "x.jsonl: line 2 is of another class of machine than line 1: they differ in CPUs (2 and 4)",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Histories(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want … %s", text, err, want)
		}
	}
}
