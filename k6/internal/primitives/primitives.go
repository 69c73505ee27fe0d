// SPDX-License-Identifier: AGPL-3.0-only

// Package primitives makes a result from the measurements of `sidecar bench primitives`: the judge decides, this package
// makes the tables.
package primitives

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/format"
	"windtunnel/k6/internal/judge"
	"windtunnel/k6/internal/result"
	"windtunnel/k6/internal/run"
	"windtunnel/k6/internal/seq"
)

const (
	// EvidenceName is the file that the sidecar writes.
	EvidenceName = "evidence/primitives.json"
	// System and Scenario are the names in the result.
	System, Scenario = "primitives", "cpu"
	// environment is the name in the result; everything runs on this machine.
	environment = "local"
)

// Evidence is the sidecar's measurements: schemas/primitives.schema.json.
type Evidence struct {
	judge.Primitives
	StartUnixS   int64             `json:"start_unix_s"`
	DurationS    float64           `json:"duration_s"`
	Mode         string            `json:"mode"`
	Parameters   Parameters        `json:"parameters"`
	Host         result.Host       `json:"host"`
	CPU          int               `json:"cpu"`
	Load         [2]float64        `json:"load"`
	Rustc        string            `json:"rustc"`
	CPUFeatures  []string          `json:"cpu_features"`
	Versions     map[string]string `json:"versions"`
	KnownAnswers int64             `json:"known_answers"`
	Skipped      []Gap             `json:"skipped"`
}

// Parameters decide whether two runs can be compared.
type Parameters struct {
	Rounds      int     `json:"rounds"`
	WarmUpMS    int     `json:"warm_up_ms"`
	MeasureMS   int     `json:"measure_ms"`
	Samples     int     `json:"samples"`
	Resamples   int     `json:"resamples"`
	Rules       []int64 `json:"rules"`
	MostRegexes int64   `json:"most_regexes"`
	BlockBytes  int64   `json:"block_bytes"`
}

// Gap is an entry of the tables that is not measured.
type Gap struct {
	Subject        string `json:"subject"`
	Implementation string `json:"implementation"`
	Rules          int64  `json:"rules"`
	Reason         string `json:"reason"`
}

// Read returns the evidence in a file.
func Read(path string) (e Evidence, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	return e, err
}

// Write judges the evidence and writes the result and the run's record, with the given id, into a folder.
func Write(dir, id string, e Evidence) (run.Run, error) {
	made, err := judge.OfPrimitives(e.Primitives)
	if err != nil {
		return run.Run{}, err
	}
	start := time.Unix(e.StartUnixS, 0).UTC()
	end := start.Add(time.Duration(e.DurationS * float64(time.Second)))
	if made.Run, err = json.Marshal(e.run(id, start, end)); err != nil {
		return run.Run{}, err
	}
	made.Notes, made.Sections = e.notes(), e.sections()
	name := System + "-" + Scenario + ".json"
	if err := run.WriteJSON(filepath.Join(dir, name), made); err != nil {
		return run.Run{}, err
	}
	code := run.ExitCode(made.Verdict)
	record := run.Run{Schema: run.Schema, ID: id, Profile: e.Mode, Environment: environment, Start: start, End: &end, ExitCode: &code,
		Scenarios: []run.Scenario{{System: System, Scenario: Scenario, Outcome: made.Verdict, ExitCode: &code, Result: name}}}
	return record, record.Write(dir)
}

func (e Evidence) run(id string, start, end time.Time) result.Run {
	p := e.Parameters
	rules := seq.Map(p.Rules, func(count int64) string { return fmt.Sprint(count) })
	versions := maps.Clone(e.Versions)
	versions["rustc"] = e.Rustc
	return result.Run{
		ID: id, Start: start, End: end, DurationS: e.DurationS, System: System, Scenario: Scenario,
		Title: "What encryption, hashes, rule sets, buffers and memory cost", Profile: e.Mode, Environment: environment, Target: "this machine",
		Parameters: map[string]any{
			"rounds": p.Rounds, "warm_up_ms": p.WarmUpMS, "measure_ms": p.MeasureMS, "samples": p.Samples, "resamples": p.Resamples,
			"rules": strings.Join(rules, ","), "most_regexes": p.MostRegexes, "block_bytes": p.BlockBytes, "cpu": e.CPU,
		},
		Host: &e.Host, Versions: versions,
	}
}

func (e Evidence) notes() []string {
	features := "none that the libraries use"
	if len(e.CPUFeatures) > 0 {
		features = strings.Join(e.CPUFeatures, ", ")
	}
	versions := seq.Map(slices.Sorted(maps.Keys(e.Versions)), func(name string) string { return name + " " + e.Versions[name] })
	return []string{
		fmt.Sprintf("%s, %s cores, CPU %d of them; %s, kernel %s; %s", e.Host.CPUModel, e.Host.Cores(), e.CPU, e.Host.OS, e.Host.Kernel, e.Rustc),
		fmt.Sprintf("load average %.2f at the start, %.2f at the end", e.Load[0], e.Load[1]),
		"CPU extensions: " + features,
		strings.Join(versions, ", "),
		"times are CPU times of one operation: medians of the rounds, and the range of their 95 % confidence intervals",
		format.Count(e.KnownAnswers) + " known answers were checked before",
	}
}
