// SPDX-License-Identifier: AGPL-3.0-only

package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel/k6/internal/profiles"
)

const (
	// askedFor is the variable that makes a script return only its options (lib/environment.js).
	askedFor = "ASKED_FOR"
	// askTimeout bounds one query: it loads a script, and runs nothing.
	askTimeout = 30 * time.Second
)

// operations are the known operations of one scenario. Only the script knows them, and they depend on the profile and on
// variables.
type operations struct {
	script      string // absolute path
	environment string // absolute path of the environment's file
	variables   []string
	known       []string
	asked       int
	refusal     string // why the script did not answer the last query
}

// has queries the script with one profile after the other, until an operation is known.
func (o *operations) has(name string) bool {
	for {
		if slices.Contains(o.known, name) {
			return true
		}
		if !o.ask() {
			return false
		}
	}
}

// ask makes the next query, first with the caller's variables. It returns false if there are no more queries.
func (o *operations) ask() bool {
	clean := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	questions := [][]string{os.Environ()}
	for _, profile := range profiles.Sized() {
		questions = append(questions, append(slices.Clone(clean), "PROFILE="+profile))
	}
	if o.asked == len(questions) {
		return false
	}
	env := slices.Concat(questions[o.asked], o.variables, []string{"ENV=" + o.environment, askedFor + "=options"})
	o.asked++
	declared, err := inspect(o.script, env)
	if err == nil && len(declared.Operations) == 0 {
		err = errors.New("its options name none (ext.windtunnel.operations)")
	}
	if err != nil {
		o.refusal = err.Error()
	}
	for _, name := range declared.Operations {
		if !slices.Contains(o.known, name) {
			o.known = append(o.known, name)
		}
	}
	return true
}

// declaration is the part `ext.windtunnel` of a script's options (lib/scenario.js).
type declaration struct {
	Operations []string `json:"operations"`
	Clients    int      `json:"clients"`
	AtOnce     bool     `json:"at_once"`
}

// Clients asks the script, with the variables of env, for the number of clients of its loop with the fewest clients.
func Clients(script string, env []string) (int, error) {
	declared, err := inspect(script, append(slices.Clone(env), askedFor+"=options"))
	if err == nil && declared.Clients < 1 {
		err = errors.New("its options do not say it (ext.windtunnel.clients)")
	}
	return declared.Clients, err
}

// RunsAtOnce asks the script, with the variables of env, whether its load can run at once with the load of another run. A
// script that does not answer cannot; its run reports why.
func RunsAtOnce(script string, env []string) bool {
	declared, err := inspect(script, append(slices.Clone(env), askedFor+"=options"))
	return err == nil && declared.AtOnce
}

func inspect(script string, env []string) (declared declaration, err error) {
	program, err := os.Executable()
	if err != nil {
		return declared, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "inspect", "--include-system-env-vars", "--log-output", "stderr", "--log-format", "json", script)
	cmd.Dir = filepath.Dir(script)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return declared, errors.New(refusalIn(stderr.String(), err))
	}
	var options struct {
		External struct {
			Windtunnel declaration `json:"windtunnel"`
		} `json:"ext"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &options); err != nil {
		return declared, fmt.Errorf("its options cannot be read: %w", err)
	}
	return options.External.Windtunnel, nil
}

// refusalIn returns the first line of the last message in k6's JSON log, or how k6 ended without a message.
func refusalIn(log string, ended error) string {
	text := ended.Error()
	for line := range strings.Lines(log) {
		var entry struct {
			Msg string `json:"msg"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg != "" {
			text, _, _ = strings.Cut(entry.Msg, "\n")
		}
	}
	return text
}
