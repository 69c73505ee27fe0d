// SPDX-License-Identifier: AGPL-3.0-only

// Package exit has what a command ends with: exit codes and their precedence, and faults. k6/lists/exit-codes.json is the only
// list of codes; the sidecar reads it too.
package exit

import (
	"fmt"
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
