// SPDX-License-Identifier: AGPL-3.0-only

package coordinate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.k6.io/k6/cmd/state"

	"windtunnel/k6/internal/coordinator"
	"windtunnel/k6/internal/exitcode"
	"windtunnel/k6/internal/fault"
	"windtunnel/k6/internal/result"
)

const (
	// silence is after how long without a sign of life a runner counts as dead: a busy node may take some seconds.
	silence = 15 * time.Second
	// looksEvery is how often what is printed may change.
	looksEvery = time.Second
)

type options struct {
	listen, scenario, results, token, dir string
	runners                               int
	patience                              time.Duration
	stdout, stderr                        io.Writer
}

// check says what is wrong with the options, "" where nothing is.
func (o options) check() string {
	system, name, both := strings.Cut(o.scenario, "/")
	switch {
	case o.token == "":
		return "COORDINATOR_TOKEN is not set: give a secret that the runners have, too"
	case o.runners < 1:
		return fmt.Sprintf("--runners %d: give how many there are", o.runners)
	case !both || system == "" || name == "" || strings.ContainsAny(name, "/."):
		return fmt.Sprintf("--scenario %q: give SYSTEM/NAME, such as pulsar/concurrent", o.scenario)
	}
	return ""
}

func (o options) run(gs *state.GlobalState) int {
	if wrong := o.check(); wrong != "" {
		fmt.Fprintln(o.stderr, wrong)
		return exitcode.Usage
	}
	if !filepath.IsAbs(o.results) {
		o.results = filepath.Join(o.dir, o.results)
	}
	if err := os.MkdirAll(o.results, 0o755); err != nil {
		fmt.Fprintf(o.stderr, "cannot make %s: %v\n", o.results, fault.Reason(err))
		return exitcode.Setup
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		fmt.Fprintf(o.stderr, "cannot listen at %s: %v\n", o.listen, err)
		return exitcode.Setup
	}
	signals := make(chan os.Signal, 2)
	gs.SignalNotify(signals, os.Interrupt, syscall.SIGTERM)
	defer gs.SignalStop(signals)
	return o.coordinate(listener, signals)
}

// coordinate serves runners until the records of all have come, or never will, and returns the exit code of their verdict.
func (o options) coordinate(listener net.Listener, signals <-chan os.Signal) int {
	ctx, done := context.WithCancel(context.Background())
	defer done()
	c := coordinator.New(coordinator.Config{Runners: o.runners, Token: o.token, Folder: o.results, Name: o.stem(),
		Patience: o.patience, Silence: silence, Say: func(line string) { fmt.Fprintln(o.stderr, line) }})
	server := c.Server()
	defer server.Close()
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.Stop("the coordinator no longer serves: " + err.Error())
		}
	}()
	go c.Watch(ctx)
	go o.progress(ctx, c)
	interrupted := false
	over := make(chan error, 1)
	go func() { over <- c.Wait(ctx) }()
	for waiting := true; waiting; {
		select {
		case <-over:
			waiting = false
		case <-signals:
			if interrupted {
				return exitcode.Interrupted
			}
			interrupted = true
			c.Stop("interrupted: all are stopped")
		}
	}
	if c.Unclean() {
		o.cleanUp()
	}
	code := o.judge(c)
	if interrupted {
		return exitcode.Interrupted
	}
	return code
}

// stem is what the names of the files begin with.
func (o options) stem() string { return strings.ReplaceAll(o.scenario, "/", "-") }

// progress prints how far the run is, where that has changed.
func (o options) progress(ctx context.Context, c *coordinator.Coordinator) {
	ticks := time.NewTicker(looksEvery)
	defer ticks.Stop()
	for said := ""; ; {
		if line := c.Progress(); line != said {
			fmt.Fprintln(o.stdout, line)
			said = line
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// cleanUp removes from the target what a set-up made that nobody has torn down, by the system's own script.
func (o options) cleanUp() {
	system, _, _ := strings.Cut(o.scenario, "/")
	script := filepath.Join("scripts", system, "_cleanup.js")
	if _, err := os.Stat(filepath.Join(o.dir, script)); err != nil {
		return
	}
	own, err := os.Executable()
	if err == nil {
		cmd := exec.Command(own, "run", "--quiet", script)
		cmd.Dir, cmd.Stdout, cmd.Stderr = o.dir, o.stdout, o.stderr
		cmd.Env = append(os.Environ(), "COORDINATOR_URL=", "K6_OUT=")
		err = cmd.Run()
	}
	if err != nil {
		fmt.Fprintf(o.stderr, "%s: what its set-up made may be left on the target: %v\n", o.scenario, err)
	}
}

var codes = map[string]int{result.Pass: exitcode.Pass, result.Fail: exitcode.Fail, result.Inconclusive: exitcode.Inconclusive}

// judge writes the result and returns the exit code of its verdict.
func (o options) judge(c *coordinator.Coordinator) int {
	found, err := c.Judge()
	if err != nil {
		fmt.Fprintf(o.stderr, "%s: there is no result: %v\n", o.scenario, err)
		return exitcode.Setup
	}
	text, err := found.File()
	if err == nil {
		err = os.WriteFile(filepath.Join(o.results, o.stem()+".json"), text, 0o644)
	}
	if err != nil {
		fmt.Fprintf(o.stderr, "the result cannot be written: %v\n", fault.Reason(err))
		return exitcode.Setup
	}
	fmt.Fprintln(o.stdout, found.Text())
	return codes[found.Verdict]
}
