// SPDX-License-Identifier: AGPL-3.0-only

// Package exit has what a command ends with: exit codes and their precedence, and faults. k6/lists/exit-codes.json is the only
// list of codes; the sidecar reads it too.
package exit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"windtunnel/k6/lists"
)

var list = lists.Read[map[string]struct {
	Code           int
	Verdict, Means string // the word for a whole run with this code, and what --help says.
}](lists.ExitCodes)

// The exit codes of `k6 x bench`, `k6 x report` and `k6 x validate`.
var (
	Pass         = list["pass"].Code
	Usage        = list["usage"].Code
	Inconclusive = list["inconclusive"].Code
	Setup        = list["setup"].Code
	Fail         = list["fail"].Code // k6's own exit code for that.
	Interrupted  = list["interrupted"].Code
)

// Help is the part of every --help that documents the codes.
var Help = func() string {
	var lines []string
	for _, e := range list {
		lines = append(lines, fmt.Sprintf("%5d  %s\n", e.Code, e.Means))
	}
	slices.Sort(lines)
	return "Exit codes:\n" + strings.Join(lines, "") + "Where several apply, the first of 130, 4, 99, 3, 0 is taken."
}()

// Verdict is the word for a whole run with this exit code.
func Verdict(code int) string {
	for _, e := range list {
		if e.Code == code && e.Verdict != "" {
			return e.Verdict
		}
	}
	return "inconclusive"
}

var precedence = []int{Interrupted, Setup, Fail, Inconclusive, Pass}

// Worst returns the exit code for all of codes together: the first of 130, 4, 99, 3, 0 among them. Any other code counts
// as Setup; without codes the result is Pass.
func Worst(codes ...int) int {
	best := len(precedence) - 1
	for _, c := range codes {
		i := slices.Index(precedence, c)
		if i < 0 {
			i = slices.Index(precedence, Setup)
		}
		best = min(best, i)
	}
	return precedence[best]
}

// Fault is why something cannot begin: one line for the user, and the exit code.
type Fault struct {
	Code    int
	Message string
}

// BadUsage is a fault of the caller: bad usage or a malformed file.
func BadUsage(format string, args ...any) *Fault {
	return &Fault{Usage, fmt.Sprintf(format, args...)}
}

// BadSetup is a fault of the machine or of the system under test.
func BadSetup(format string, args ...any) *Fault {
	return &Fault{Setup, fmt.Sprintf(format, args...)}
}

// Say prints a line that says why a command ends, and returns its exit code.
func Say(to io.Writer, code int, format string, args ...any) int {
	fmt.Fprintf(to, format+"\n", args...)
	return code
}

// Say prints the fault, and returns its exit code.
func (f *Fault) Say(to io.Writer) int { return Say(to, f.Code, "%s", f.Message) }

// Reason strips the operation and the paths of a file error.
func Reason(err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}

// LastPart is the part of an error's message behind the last colon.
func LastPart(err error) string {
	text := err.Error()
	return strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:])
}

// LastLine is the last line of a text without its empty ones; "" without a line.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// OneLine replaces line ends and runs of spaces with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
