// SPDX-License-Identifier: AGPL-3.0-only

// Package run is the record of a whole run, results/RUN/run.json: the plan, and the outcome of each scenario.
package run

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/document"
	"windtunnel/k6/internal/exit"
)

// Schema is the value of "schema" in a run.json.
const Schema = "windtunnel.run/1"

// FileName is the record's name in the folder of the run.
const FileName = "run.json"

// The outcomes of a scenario. Interrupted, SetupFailed and Inconclusive may have a result too.
const (
	Planned      = "planned"
	Running      = "running"
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
	SetupFailed  = "set-up failed"
	Interrupted  = "interrupted"
	Skipped      = "skipped"
	LeftOut      = "left out" // this machine or user cannot run its testbed, which is no fault of the system.
)

// Cause is the part at fault for a failed set-up.
type Cause string

// The causes.
const (
	OfTestbed Cause = "testbed" // the system under test did not start.
	OfSetUp   Cause = "set_up"  // the system was up, but the scenario's set-up could not reach it.
	OfBench   Cause = "bench"   // the measuring side: the sidecar or k6 ended, the result is malformed, or the disk takes no file.
)

var causes = []Cause{"", OfTestbed, OfSetUp, OfBench}

// ExitCode is the exit code of one scenario's outcome. A scenario that did not run counts as inconclusive: the reason
// why it did not run has its own code. The code of a left-out scenario is for runs without any other.
func ExitCode(outcome string) int {
	switch outcome {
	case Pass:
		return exit.Pass
	case Fail:
		return exit.Fail
	case SetupFailed, LeftOut:
		return exit.Setup
	case Interrupted:
		return exit.Interrupted
	}
	return exit.Inconclusive
}

// Run is the record. Times are UTC. Streamed says whether the run was streamed to InfluxDB, which costs the machine a
// little. ExitCode is the exit code of the whole run, nil until it ends. Notes are remarks for the reader, such as the
// points that InfluxDB lacks.
type Run struct {
	Schema      string     `json:"schema"`
	ID          string     `json:"id"`
	Profile     string     `json:"profile"`
	Environment string     `json:"environment"`
	Streamed    bool       `json:"streamed"`
	Start       time.Time  `json:"start"`
	End         *time.Time `json:"end"`
	ExitCode    *int       `json:"exit_code"`
	Notes       []string   `json:"notes,omitempty"`
	Scenarios   []Scenario `json:"scenarios"`
}

// Scenario is one planned scenario. ExitCode is k6's, nil if k6 did not run to its end. Message says in one line why
// there is no result, "" if there is one. Result is the file's name in the folder of the run, "" without a result.
type Scenario struct {
	System   string `json:"system"`
	Scenario string `json:"scenario"`
	Outcome  string `json:"outcome"`
	ExitCode *int   `json:"exit_code"`
	Message  string `json:"message,omitempty"`
	Result   string `json:"result,omitempty"`
	// Cause is set for the outcome SetupFailed, "" otherwise.
	Cause Cause `json:"cause,omitempty"`
	// Disturbed has a sentence for each measurement that was repeated because the machine or the generator spoilt it.
	Disturbed []string `json:"disturbed,omitempty"`
	// Coordinator is set for a run of several runners, nil otherwise.
	Coordinator *Coordinator `json:"coordinator,omitempty"`
}

// Coordinator is the CPU time for coordinating the runners, from the common start of the load until the last load ended.
type Coordinator struct {
	// Program is the process with the coordinator: k6 x coordinate, or k6 x bench, which also does other work.
	Program string `json:"program"`
	// CPUS is the CPU time of that process, LoadS the duration of the load, both in seconds.
	CPUS  float64 `json:"cpu_s"`
	LoadS float64 `json:"load_s"`
}

// New is the record of a run that begins now.
func New(id, profile, environment string, scenarios ...Scenario) Run {
	return Run{Schema: Schema, ID: id, Profile: profile, Environment: environment, Start: Now(), Scenarios: scenarios}
}

// Now is the time as a record has it.
func Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Name is SYSTEM/SCENARIO.
func (s Scenario) Name() string { return s.System + "/" + s.Scenario }

// Read returns the record of the run in dir; if there is none, the error satisfies os.IsNotExist.
func Read(dir string) (Run, error) {
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		return Run{}, err
	}
	return parse(data)
}

// Check reports what is wrong with the value of a run.json.
func Check(doc any) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = parse(data)
	return err
}

func parse(data []byte) (r Run, err error) {
	if err := document.Strictly(data, &r); err != nil {
		return r, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return r, r.check()
}

func (r Run) check() error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("schema: %q must be %q", r.Schema, Schema)
	case r.ID == "":
		return fmt.Errorf("id: missing")
	}
	for i, s := range r.Scenarios {
		if !slices.Contains(causes, s.Cause) {
			return fmt.Errorf("scenarios/%d/cause: %q must be one of %q", i, s.Cause, causes[1:])
		}
	}
	return nil
}

// Write atomically stores the record in dir.
func (r Run) Write(dir string) error {
	return WriteJSON(filepath.Join(dir, FileName), r)
}

// WriteJSON writes a value as a file of JSON, like WriteFile.
func WriteJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, append(data, '\n'))
}

// WriteFile atomically replaces a file: a reader sees the old or the new content, never a part.
func WriteFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ID is the caller's id. If the given id is empty, it is a new one: yyyymmdd-hhmmss-PROFILE-xxxx, in UTC.
func ID(given, profile string, now time.Time) (string, *exit.Fault) {
	if given == "" {
		var random [2]byte
		_, _ = rand.Read(random[:])
		return now.UTC().Format("20060102-150405-") + profile + "-" + hex.EncodeToString(random[:]), nil
	}
	if !idPattern.MatchString(given) || given == "latest" {
		return "", exit.BadUsage("run id %q: give letters, digits, dots, dashes and underscores", given)
	}
	return given, nil
}

// Logs is the folder of a run's logs.
func Logs(dir string) string { return filepath.Join(dir, "logs") }

// MakeFolder makes results/RUN with the folder of its logs.
func MakeFolder(dir string) *exit.Fault {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return exit.BadSetup("cannot make results/: %v", exit.Reason(err))
	}
	id := filepath.Base(dir)
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, os.ErrExist) {
		return exit.BadUsage("results/%s exists already; give another --run-id", id)
	}
	if err == nil {
		err = os.Mkdir(Logs(dir), 0o755)
	}
	if err != nil {
		return exit.BadSetup("cannot make results/%s: %v", id, exit.Reason(err))
	}
	return nil
}

// Begin makes the run's folder with its record, points results/latest at the folder, and returns the folder. there says
// that MakeFolder has made it already.
func (r Run) Begin(root string, there bool) (dir string, f *exit.Fault) {
	results := filepath.Join(root, "results")
	dir = filepath.Join(results, r.ID)
	if !there {
		if f := MakeFolder(dir); f != nil {
			return dir, f
		}
	}
	if err := r.Write(dir); err != nil {
		return dir, exit.BadSetup("cannot write results/%s/run.json: %v", r.ID, exit.Reason(err))
	}
	if err := replaceLink(filepath.Join(results, "latest"), r.ID); err != nil {
		return dir, exit.BadSetup("cannot link results/latest: %v", exit.Reason(err))
	}
	return dir, nil
}

// replaceLink atomically points a symbolic link at target; it does not touch a file that is no link.
func replaceLink(link, target string) error {
	if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return fmt.Errorf("%s is not a symbolic link; remove it", link)
	}
	tmp := link + "." + target
	if err := os.Symlink(target, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, link); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}
