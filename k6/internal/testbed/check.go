// SPDX-License-Identifier: AGPL-3.0-only

package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"windtunnel/k6/internal/closest"
	"windtunnel/k6/internal/seq"
)

// patience bounds a command that only reads files.
const patience = 10 * time.Second

// ErrNoSidecar means that the checkout has no sidecar, which alone can check values.
var ErrNoSidecar = errors.New("bin/sidecar is missing; run `make bin/sidecar`")

// The kinds of problems with a variable, in the sidecar's words (sidecar/src/testbed/check.rs).
const (
	Unknown = "unknown" // no such variable
	NoFile  = "no_file" // the path does not exist on this machine
	Missing = "missing" // a value is required
)

// Checked is the sidecar's answer about values: the given values, typed as the testbed declares them, and their
// problems.
type Checked struct {
	Given    map[string]any `json:"given"`
	Problems []Problem      `json:"problems"`
	// Names are the testbed's [names] with these values, if there is no problem. Refused says why a start with these
	// names would be rejected, "" if it would not be.
	Names   map[string]string `json:"names"`
	Refused string            `json:"refused"`
}

// Problem is a problem with one variable. Is is Unknown, NoFile, Missing or "value". Text follows the variable's name in
// messages. Known lists the valid values, if they are a list.
type Problem struct {
	Variable string   `json:"variable"`
	Is       string   `json:"is"`
	Text     string   `json:"text"`
	Known    []string `json:"known"`
}

// Said is the text, with a suggestion of the intended name if there is one. value is the given value.
func (p Problem) Said(value any) string {
	meant := fmt.Sprint(value)
	if p.Is == Unknown {
		meant = p.Variable
	}
	return p.Text + closest.Hint(meant, p.Known)
}

// Check asks the sidecar of the checkout at root about values of a testbed's variables. pairs are VARIABLE=VALUE, values
// are in JSON form. The error is one line: there is no sidecar, or it rejects the testbed itself.
func Check(root, name string, pairs []string, values map[string]any) (Checked, error) {
	if values == nil {
		values = map[string]any{}
	}
	given, err := json.Marshal(values)
	if err != nil {
		return Checked{}, err
	}
	arguments := append([]string{"check", "--values=" + string(given)}, seq.Map(pairs, func(pair string) string { return "--var=" + pair })...)
	out, failed := ask(root, name, arguments)
	var checked Checked
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.UseNumber()
	if err := decoder.Decode(&checked); err != nil {
		if failed == nil {
			failed = fmt.Errorf("bin/sidecar does not answer as this k6 asks; run `make build`")
		}
		return Checked{}, failed
	}
	return checked, nil
}

// Refusal is the sidecar's line about a testbed file that it rejects, without the file's name, or "". Without a sidecar
// it is "".
func Refusal(root, name string) string {
	_, err := ask(root, name, []string{"show"})
	if err == nil || errors.Is(err, ErrNoSidecar) {
		return ""
	}
	return strings.TrimPrefix(err.Error(), "testbeds/"+name+".toml: ")
}

// ask runs `sidecar testbed`. It returns the output even if the command fails.
func ask(root, name string, arguments []string) ([]byte, error) {
	program := filepath.Join(root, "bin", "sidecar")
	if _, err := os.Stat(program); err != nil {
		return nil, ErrNoSidecar
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	arguments = append(append([]string{"testbed"}, arguments...), "--root", root, "--", name)
	cmd := exec.CommandContext(ctx, program, arguments...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	message := strings.TrimPrefix(strings.Join(strings.Fields(stderr.String()), " "), "sidecar: ")
	if message == "" {
		message = fmt.Sprintf("bin/sidecar cannot check it: %v; run `make build`", err)
	}
	return stdout.Bytes(), errors.New(message)
}
