// SPDX-License-Identifier: AGPL-3.0-only

// Package sidecar starts the sidecar. Through it, the package starts testbeds and measures the usage of processes.
package sidecar

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"windtunnel/k6/internal/ambient"
	"windtunnel/k6/internal/exit"
)

const (
	sidecarStart = 10 * time.Second // until it prints its address
	testbedStart = 6 * time.Minute  // longer than a testbed's own timeouts (at most 5 min)
	testbedStop  = 90 * time.Second
	sidecarStop  = 75 * time.Second // stop_timeout_s is at most 60
)

// Sidecar is a running `sidecar serve`. It ends when its standard input closes, so it never outlives the bench, however
// the bench ends.
type Sidecar struct {
	Client
	cmd   *exec.Cmd
	stdin io.Closer
	log   string // path of its log
	done  chan struct{}
	err   error // of Wait; valid when done is closed
}

// Instance is a started testbed.
type Instance struct {
	ID            string            `json:"id"`
	Variables     map[string]any    `json:"variables"`
	Outputs       map[string]string `json:"outputs"`
	SecretOutputs map[string]string `json:"secret_outputs"`
}

var addressPattern = regexp.MustCompile(`^http://(127\.0\.0\.1|localhost|\[::1\]):\d+$`)

// Open starts program in root with its logs in logDir, and returns when it serves. Its probes may load this machine and
// the hosts in allowed. limits, "" for none, apply to the systems under test.
func Open(ctx context.Context, program, root, logDir string, allowed []string, limits string) (*Sidecar, error) {
	logPath := filepath.Join(logDir, "sidecar.log")
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"serve", "--exit-with-stdin", "--log-dir", logDir}
	for _, host := range allowed {
		args = append(args, "--allow-target", host)
	}
	if limits != "" {
		args = append(args, "--limits="+limits)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = root
	cmd.Env, _ = ambient.Without(os.Environ())
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Do not use StdoutPipe: Wait would close it during a read.
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = writer
	if err := cmd.Start(); err != nil {
		reader.Close()
		writer.Close()
		return nil, fmt.Errorf("%s does not start: %w; run `make build`", program, err)
	}
	writer.Close()
	s := &Sidecar{cmd: cmd, stdin: stdin, log: logPath, done: make(chan struct{})}
	address := make(chan greeting, 1)
	go readAddress(reader, address)
	go func() {
		s.err = cmd.Wait()
		close(s.done)
	}()
	timeout := time.NewTimer(sidecarStart)
	defer timeout.Stop()
	select {
	case told := <-address:
		s.URL, s.Token = told.URL, told.Token
		return s, nil
	case <-s.done:
		return nil, s.Ended()
	case <-timeout.C:
		err = fmt.Errorf("the sidecar printed no address within %v; see %s", sidecarStart, logPath)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Stop()
	return nil, err
}

// greeting is the first line of the sidecar's output.
type greeting struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// readAddress sends the first greeting of the sidecar, then drains its output.
func readAddress(r io.ReadCloser, address chan<- greeting) {
	defer r.Close()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var told greeting
		if json.Unmarshal(lines.Bytes(), &told) == nil && addressPattern.MatchString(told.URL) {
			address <- told
			break
		}
	}
	_, _ = io.Copy(io.Discard, r)
}

// Ended returns an error that the sidecar has ended, with the last line of its log.
func (s *Sidecar) Ended() error {
	state := "it exited"
	if s.err != nil {
		state = s.err.Error()
	}
	log, _ := os.ReadFile(s.log)
	if words := exit.LastLine(string(log)); words != "" {
		return fmt.Errorf("the sidecar ended (%s): %s", state, words)
	}
	return fmt.Errorf("the sidecar ended (%s)", state)
}

// Start starts a testbed, with a link if one is given. The run's limits do not apply to a spare one. The error is the
// sidecar's line, with the fix.
func (s *Sidecar) Start(ctx context.Context, testbed string, variables map[string]any, link string, spare bool) (Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, testbedStart)
	defer cancel()
	if variables == nil {
		variables = map[string]any{}
	}
	var instance Instance
	request := map[string]any{"variables": variables}
	if link != "" {
		request["link"] = map[string]any{"text": link}
	}
	if spare {
		request["limits"] = ""
	}
	err := s.call(ctx, http.MethodPost, "/testbeds/"+testbed+"/start", request, &instance)
	if err != nil && !strings.Contains(err.Error(), testbed) {
		err = fmt.Errorf("testbed %s: %w", testbed, err)
	}
	return instance, err
}

// End stops a testbed; it is no error if the testbed is gone already.
func (s *Sidecar) End(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testbedStop)
	defer cancel()
	err := s.call(ctx, http.MethodDelete, "/instances/"+id, nil, nil)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound {
		return nil
	}
	return err
}

// Done is closed when the sidecar has ended.
func (s *Sidecar) Done() <-chan struct{} { return s.done }

// Alive reports whether the sidecar runs.
func (s *Sidecar) Alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Stop ends the sidecar and the processes that it started: it closes the standard input, and if that does not help,
// sends signals.
func (s *Sidecar) Stop() {
	_ = s.stdin.Close()
	for _, step := range []struct {
		wait   time.Duration
		signal syscall.Signal
	}{{sidecarStop, syscall.SIGTERM}, {5 * time.Second, syscall.SIGKILL}} {
		select {
		case <-s.done:
			return
		case <-time.After(step.wait):
			_ = syscall.Kill(-s.cmd.Process.Pid, step.signal)
		}
	}
	<-s.done
}
