// SPDX-License-Identifier: AGPL-3.0-only

// Package children runs k6 processes, and passes the bench's signals on to them.
package children

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel/k6/internal/bundle"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/influx"
	"windtunnel/k6/internal/redact"
)

// Killed is the exit code of a k6 that a signal killed.
const Killed = -1

// K6 is one `k6 run`.
type K6 struct {
	Program  string // path of k6
	Script   string
	Args     []string // further arguments of `k6 run`
	Dir      string   // working folder
	Env      []string
	LogPath  string
	Redactor *redact.Redactor
	// Progress receives k6's "running (…)" line when it changes.
	Progress func(line string)
	// Report receives the reports of the streaming output.
	Report func(influx.Report)
	// Started and Ended enclose the time in which the pid belongs to this process.
	Started func(pid int)
	Ended   func(pid int)
}

// Run runs k6 to its end and returns its exit code and its last error message ("" without one). It returns an error if
// k6 could not start or a log could not be written.
func (c K6) Run() (code int, message string, err error) {
	log, err := os.Create(c.LogPath)
	if err != nil {
		return 0, "", err
	}
	defer log.Close()
	shared := &lockedWriter{w: log}
	outTokens, errTokens := redact.TokenWriter(shared), redact.TokenWriter(shared)
	stdout := &lineWriter{w: c.Redactor.Writer(outTokens), line: c.progressLine}
	var lastError, lastConsole string
	stderr := &lineWriter{w: c.Redactor.Writer(errTokens), line: func(line string) {
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
	}}
	args := append([]string{"run", "--address", "", "--log-output", "stderr", "--log-format", "json", "--no-color"}, c.Args...)
	cmd := exec.Command(c.Program)
	if bundled, err := c.bundled(); err == nil {
		defer bundled.Close()
		cmd.ExtraFiles = []*os.File{bundled}
		cmd.Args = append(append(cmd.Args, args...), firstExtraFile)
	} else { // k6 reports what is wrong with the script
		cmd.Args = append(append(cmd.Args, args...), c.Script)
	}
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
	c.Ended(cmd.Process.Pid) // before Wait: afterwards the pid may belong to another process
	err = cmd.Wait()
	if closeErr := errors.Join(stdout.Close(), stderr.Close(), outTokens.Close(), errTokens.Close(), shared.err); closeErr != nil {
		return 0, "", closeErr
	}
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		code = ended.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return 0, "", err
	}
	return code, c.Redactor.Clean(cmp.Or(lastError, lastConsole)), nil
}

// firstExtraFile is the path of a child's first extra file.
const firstExtraFile = "/proc/self/fd/3"

// bundled returns the script and its modules as one file, which is in memory only.
func (c K6) bundled() (*os.File, error) {
	path := c.Script
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	script, err := bundle.Join(path)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("script.js", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), c.Script)
	if _, err := file.Write(script); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// awaitExit returns when a child process has ended, without reaping it.
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

// errorMessage returns the message of an error line in k6's JSON log as one line, without stack trace and wrapping
// words; "" for any other line. console says whether a script's console wrote it.
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
	text = inFunction.ReplaceAllString(exit.OneLine(text), "")
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

// lockedWriter lets two writers share one file. After its first error it accepts data without writing it, so that a full
// disk does not break k6's pipe during the run.
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

// lineWriter passes all data on and calls a function with each whole line.
type lineWriter struct {
	w    io.WriteCloser
	line func(string)
	held []byte
}

// longestLine bounds the bytes that a lineWriter buffers of an unfinished line.
const longestLine = 1 << 20

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
