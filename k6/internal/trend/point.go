// SPDX-License-Identifier: AGPL-3.0-only

// Package trend keeps a history of runs, and finds and shows where their figures changed. It only informs, and never
// fails a gate (docs/how-to/trend.md).
package trend

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/compare"
	"windtunnel/k6/internal/machine"
	"windtunnel/k6/internal/report"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// Schema is the value of "schema" in each line of a history.
const Schema = "windtunnel.point/1"

// Point is one scenario of one run: a line of a history. The figures have units.
type Point struct {
	Schema     string            `json:"schema"`
	Run        string            `json:"run"`
	Start      time.Time         `json:"start"`
	Class      machine.Class     `json:"class"`
	System     string            `json:"system"`
	Scenario   string            `json:"scenario"`
	Title      string            `json:"title"`
	Profile    string            `json:"profile"`
	Parameters map[string]any    `json:"parameters"`
	Testbed    string            `json:"testbed"` // its name, and the variables that describe the system
	Versions   map[string]string `json:"versions"`
	Commit     string            `json:"commit"` // of the system, "" if unknown
	Figures    []compare.Figure  `json:"figures"`
}

// Points returns the points of the runs in folders, and a line for each unusable result. The error is one line.
func Points(folders []string, commit string, beds func(string) testbed.Testbed) (points []Point, left []string, err error) {
	for _, folder := range folders {
		set, err := report.Load([]string{folder})
		if err != nil {
			return nil, nil, err
		}
		for _, e := range set.Entries() {
			measured := compare.Measured{Scenario: e.Name, Outcome: e.Outcome, Cause: e.Cause, Reasons: result.Texts(e.Reasons), Result: e.Result}
			if why := compare.Unusable(measured); why != "" {
				left = append(left, fmt.Sprintf("%s in %s is no point: %s", e.Name, folder, why))
				continue
			}
			points = append(points, pointOf(*e.Result, commit, beds))
		}
	}
	return points, left, nil
}

func pointOf(r result.Result, commit string, beds func(string) testbed.Testbed) Point {
	return Point{Schema: Schema, Run: r.Run.ID, Start: r.Run.Start.UTC(), Class: machine.Of(r), System: r.Run.System, Scenario: r.Run.Scenario,
		Title: r.Run.Title, Profile: r.Run.Profile, Parameters: r.Run.Parameters, Testbed: testbedText(r.Run.Testbed, beds), Versions: r.Run.Versions,
		Commit: commit, Figures: compare.Figures(r)}
}

// testbedText names a testbed and its variables without ports; "" without a testbed.
func testbedText(of *result.Testbed, beds func(string) testbed.Testbed) string {
	if of == nil {
		return ""
	}
	parts := []string{of.Name}
	bed := beds(of.Name)
	for _, name := range slices.Sorted(maps.Keys(of.Variables)) {
		if !bed.IsPort(name) {
			parts = append(parts, fmt.Sprintf("%s=%v", name, of.Variables[name]))
		}
	}
	return strings.Join(parts, " ")
}

// Name is SYSTEM/SCENARIO.
func (p Point) Name() string { return p.System + "/" + p.Scenario }

// Version is a short name of the system's version: its commit, or else its versions.
func (p Point) Version() string {
	if p.Commit != "" {
		return p.Commit
	}
	names := seq.Filter(slices.Sorted(maps.Keys(p.Versions)), func(name string) bool { return name != "k6" && !strings.HasPrefix(name, "windtunnel") })
	return strings.Join(seq.Map(names, func(name string) string { return name + " " + p.Versions[name] }), ", ")
}

// group identifies the series of a point, apart from the metric.
func (p Point) group() string {
	text, err := json.Marshal([]any{p.Name(), p.Profile, p.Parameters, p.Testbed})
	if err != nil {
		panic(err) // the value came from JSON
	}
	return string(text)
}
