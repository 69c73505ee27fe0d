// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// patience is for how long kubectl waits for one answer of the cluster.
const patience = 20 * time.Second

// kubectl talks to the cluster of the context that is set.
type kubectl struct {
	namespace string // "" for the context's own
	environ   []string
}

// refused is what kubectl said when it failed: its last line.
type refused string

func (r refused) Error() string { return string(r) }

// command is kubectl with arguments, in a process group of its own: Ctrl-C is for us to handle.
func (k kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	if k.namespace != "" {
		args = append([]string{"--namespace", k.namespace}, args...)
	}
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Env = k.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run returns what kubectl prints, given a text to read.
func (k kubectl) run(ctx context.Context, input string, args ...string) ([]byte, error) {
	cmd := k.command(ctx, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := said(cmd.Run(), &problem)
	return out.Bytes(), err
}

// stream writes what kubectl prints to a function's reader.
func (k kubectl) stream(ctx context.Context, read func(io.Reader) error, args ...string) error {
	cmd := k.command(ctx, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := read(out)
	if err := said(cmd.Wait(), &problem); err != nil {
		return err
	}
	return readErr
}

// get decodes what `kubectl ARGUMENTS -o json` prints.
func (k kubectl) get(ctx context.Context, into any, args ...string) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	text, err := k.run(ctx, "", append(args, "--output", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// said puts kubectl's own words in the place of its exit code.
func said(err error, problem *bytes.Buffer) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(problem.String()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	for _, prefix := range []string{"Error from server ", "error: "} {
		last = strings.TrimPrefix(last, prefix)
	}
	if last == "" {
		return err
	}
	return refused(last)
}
