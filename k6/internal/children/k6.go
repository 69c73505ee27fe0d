// SPDX-License-Identifier: AGPL-3.0-only

// Package children runs k6 processes, and passes on to them the signals that the bench gets.
package children

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/fault"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/redact"
)

// Killed is the exit code of a k6 that a signal ended before it could choose one.
const Killed = -1

// K6 is one `k6 run`.
type K6 struct {
	Program  string // the k6
	Script   string
	Args     []string // further ones of `k6 run`
	Dir      string   // the folder that it runs in
	Env      []string
	LogPath  string
	Redactor *redact.Redactor
	// Progress is told k6's "running (…)" line as it changes.
	Progress func(line string)
	// Report is told what the output says that streams.
	Report func(influx.Report)
	// Started and Ended bracket the time in which the pid is the process's own.
	Started func(pid int)
	Ended   func(pid int)
}

// Run runs k6 to its end and returns its exit code and its last error message ("" without one).
// The error is for a k6 that could not run at all or a log that could not be written.
func (c K6) Run() (code int, message string, err error) {
	log, err := os.Create(c.LogPath)
	if err != nil {
		return 0, "", err
	}
	defer log.Close()
	shared := &lockedWriter{w: log}
	outTokens, errTokens := redact.TokenWriter(shared), redact.TokenWriter(shared)
	stdout := newLineWriter(c.Redactor.Writer(outTokens), c.progressLine)
	var lastError, lastConsole string
	stderr := newLineWriter(c.Redactor.Writer(errTokens), func(line string) {
		if r, ok := influx.ReadReport(line); ok {
			c.Report(r)
		}
		text, console := errorMessage(line)
		switch {
		case text == "":
		case console:
			lastConsole = text
		default:
			lastError = text
		}
	})
	args := append([]string{"run", "--address", "", "--log-output", "stderr", "--log-format", "json", "--no-color"}, c.Args...)
	cmd := exec.Command(c.Program, append(args, c.Script)...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	// Pdeathsig fires when the thread that forked ends, so the thread is kept until k6 has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	c.Started(cmd.Process.Pid)
	awaitExit(cmd.Process.Pid)
	c.Ended(cmd.Process.Pid) // before Wait: from then on the pid may be another process's
	err = cmd.Wait()
	if closeErr := errors.Join(stdout.Close(), stderr.Close(), outTokens.Close(), errTokens.Close(), shared.err); closeErr != nil {
		return 0, "", closeErr
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return 0, "", err
	}
	if lastError == "" {
		lastError = lastConsole
	}
	return code, redact.Tokens(c.Redactor.Text(lastError)), nil
}

// awaitExit returns when a child process has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (c K6) progressLine(line string) {
	if strings.HasPrefix(line, "running (") {
		c.Progress(line)
	}
}

var (
	inFunction = regexp.MustCompile(` at (\S+ )?\((file|webpack|k6)://.*$`)
	wrappers   = []string{"test aborted: ", "Error: ", "TypeError: ", "GoError: ", "Uncaught (in promise) "}
)

// errorMessage returns the message of an error line of k6's JSON log in one line, without stack
// trace and wrapping words, and whether a script's console wrote it; "" for any other line.
func errorMessage(line string) (text string, console bool) {
	var entry struct {
		Level  string `json:"level"`
		Msg    string `json:"msg"`
		Source string `json:"source"`
	}
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Level != "error" && entry.Level != "fatal" {
		return "", false
	}
	text, _, _ = strings.Cut(entry.Msg, "\n\tat ")
	text = inFunction.ReplaceAllString(fault.OneLine(text), "")
	for again := true; again; {
		again = false
		for _, w := range wrappers {
			if rest, ok := strings.CutPrefix(text, w); ok {
				text, again = rest, true
			}
		}
	}
	return text, entry.Source == "console"
}

// lockedWriter lets two writers share one file. It keeps the first error and then takes what is
// written without writing it, so that a full disk does not break k6's pipe in mid-run.
type lockedWriter struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		_, l.err = l.w.Write(p)
	}
	return len(p), nil
}

// lineWriter passes everything on and calls a function with each whole line.
type lineWriter struct {
	w    io.WriteCloser
	line func(string)
	held []byte
}

// longestLine bounds what a lineWriter holds of a line that does not end.
const longestLine = 1 << 20

func newLineWriter(w io.WriteCloser, line func(string)) *lineWriter {
	return &lineWriter{w: w, line: line}
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.held = append(l.held, p...)
	for {
		i := bytes.IndexByte(l.held, '\n')
		if i < 0 {
			break
		}
		l.line(strings.TrimRight(string(l.held[:i]), "\r"))
		l.held = l.held[i+1:]
	}
	if len(l.held) > longestLine {
		l.held = nil
	}
	return l.w.Write(p)
}

func (l *lineWriter) Close() error {
	if len(l.held) > 0 {
		l.line(string(l.held))
	}
	return l.w.Close()
}
