// SPDX-License-Identifier: AGPL-3.0-only

package bench

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

	"windtunnel/k6/internal/influx"
)

// killed is the exit code of a k6 that a signal ended before it could choose one.
const killed = -1

// k6Child is one `k6 run`.
type k6Child struct {
	program  string
	script   string
	dir      string
	env      []string
	logPath  string
	redactor *Redactor
	// progress is told k6's "running (…)" line as it changes.
	progress func(line string)
	// report is told what the output says that streams.
	report func(influx.Report)
	// started and ended bracket the time in which the pid is the process's own.
	started func(pid int)
	ended   func()
}

// run runs k6 to its end and returns its exit code and its last error message ("" without one).
// The error is for a k6 that could not run at all or a log that could not be written.
func (c k6Child) run() (code int, message string, err error) {
	log, err := os.Create(c.logPath)
	if err != nil {
		return 0, "", err
	}
	defer log.Close()
	shared := &lockedWriter{w: log}
	outTokens, errTokens := &tokenWriter{w: shared}, &tokenWriter{w: shared}
	stdout := newLineWriter(c.redactor.Writer(outTokens), c.progressLine)
	var lastError, lastConsole string
	stderr := newLineWriter(c.redactor.Writer(errTokens), func(line string) {
		if r, ok := influx.ReadReport(line); ok {
			c.report(r)
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
	cmd := exec.Command(c.program, "run", "--address", "", "--log-output", "stderr",
		"--log-format", "json", "--no-color", c.script)
	cmd.Dir = c.dir
	cmd.Env = c.env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	// Pdeathsig fires when the thread that forked ends, so the thread is kept until k6 has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	c.started(cmd.Process.Pid)
	awaitExit(cmd.Process.Pid)
	c.ended() // before Wait: from then on the pid may be another process's
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
	return code, maskTokens(c.redactor.Text(lastError)), nil
}

// awaitExit returns when a child process has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (c k6Child) progressLine(line string) {
	if strings.HasPrefix(line, "running (") {
		c.progress(line)
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
	text = inFunction.ReplaceAllString(oneLine(text), "")
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
