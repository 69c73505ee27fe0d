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
	// Schema is the value of "schema" in the evidence.
	Schema = "windtunnel.primitives/2"
	// EvidenceName is the file that the sidecar writes.
	EvidenceName = "evidence/primitives.json"
	// System and Scenario are the names in the result.
	System, Scenario = "primitives", "cpu"
	// environment is the name in the result; everything runs on this machine.
	environment = "local"
)

// Evidence is the sidecar's measurements, which `sidecar bench primitives` writes. schemas/generate makes
// schemas/primitives.schema.json from it.
type Evidence struct {
	Schema string `json:"schema"`
	// Seconds since 1970.
	StartUnixS int64   `json:"start_unix_s" jsonschema:"minimum=0"`
	DurationS  float64 `json:"duration_s" jsonschema:"minimum=0"`
	Mode       string  `json:"mode"`
	// Everything that decides whether two runs are comparable.
	Parameters Parameters  `json:"parameters"`
	Host       result.Host `json:"host"`
	// The CPU that ran the measurements.
	CPU int `json:"cpu" jsonschema:"minimum=0"`
	// Load averages of one minute at the start and at the end.
	Load  [2]float64 `json:"load" jsonschema:"minItems=2,minimum=0"`
	Rustc string     `json:"rustc"`
	// Extensions that this CPU has and the libraries can use.
	CPUFeatures []string `json:"cpu_features"`
	// Versions of the measured libraries.
	Versions map[string]string `json:"versions"`
	// The number of checked answers before the measurements; a wrong answer ends the run.
	KnownAnswers int64 `json:"known_answers" jsonschema:"minimum=0"`
	judge.Primitives
	Skipped []Gap `json:"skipped"`
}

// Parameters decide whether two runs can be compared.
type Parameters struct {
	// Measurements of each case, in turn with the other cases of its section.
	Rounds   int `json:"rounds" jsonschema:"minimum=1"`
	WarmUpMS int `json:"warm_up_ms" jsonschema:"minimum=1"`
	// Length of a round.
	MeasureMS int `json:"measure_ms" jsonschema:"minimum=1"`
	// Samples of a round.
	Samples int `json:"samples" jsonschema:"minimum=10"`
	// Resamples of the bootstrap.
	Resamples   int     `json:"resamples" jsonschema:"minimum=1000"`
	Rules       []int64 `json:"rules" jsonschema:"minimum=1"`
	MostRegexes int64   `json:"most_regexes" jsonschema:"minimum=1"`
	// Size of a block in the section memory.
	BlockBytes int64 `json:"block_bytes" jsonschema:"minimum=1"`
}

// Gap is an entry of the tables that is not measured, with the fields of judge.Primitive.
type Gap struct {
	Section        string `json:"section" jsonschema:"enum=control,enum=memory,enum=aead,enum=hash,enum=domain,enum=ip,enum=geoip,enum=buffers"`
	Subject        string `json:"subject" jsonschema:"minLength=1"`
	Operation      string `json:"operation" jsonschema:"minLength=1"`
	Implementation string `json:"implementation" jsonschema:"minLength=1"`
	Bytes          int64  `json:"bytes,omitempty" jsonschema:"minimum=1"`
	Rules          int64  `json:"rules,omitempty" jsonschema:"minimum=1"`
	Reason         string `json:"reason" jsonschema:"minLength=1"`
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
