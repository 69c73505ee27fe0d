// SPDX-License-Identifier: AGPL-3.0-only

// Package fault describes why something cannot begin: one line for the user, and an exit code.
package fault

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"windtunnel/k6/internal/exitcode"
)

// Fault is one line for the user and the exit code.
type Fault struct {
	Code    int
	Message string
}

// Usage is a fault of the caller: bad usage or a malformed file.
func Usage(format string, args ...any) *Fault {
	return &Fault{exitcode.Usage, fmt.Sprintf(format, args...)}
}

// Setup is a fault of the machine or of the system under test.
func Setup(format string, args ...any) *Fault {
	return &Fault{exitcode.Setup, fmt.Sprintf(format, args...)}
}

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

// OneLine replaces line ends and runs of spaces with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
