// SPDX-License-Identifier: AGPL-3.0-only

package exit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

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
