// SPDX-License-Identifier: AGPL-3.0-only

// Package exitcode names the exit codes of Windtunnel's subcommands and their precedence.
package exitcode

import "slices"

// The exit codes of `k6 x bench`, `k6 x report` and `k6 x validate`.
const (
	Pass         = 0   // everything passed.
	Usage        = 2   // bad usage, or a malformed file.
	Inconclusive = 3   // measured, but the figures cannot be trusted, or a result is missing.
	Setup        = 4   // set-up failed: testbed, port, target, password, missing binary, disk.
	Fail         = 99  // a threshold failed (k6's own exit code for that).
	Interrupted  = 130 // stopped by SIGINT or SIGTERM.
)

// Help is the part of every --help that documents the codes.
const Help = `Exit codes:
    0  pass
    2  bad usage or a malformed file
    3  inconclusive: the numbers cannot be trusted, or a planned result is missing
    4  set-up failed: testbed, port, target, password, missing binary, full disk
   99  a threshold failed
  130  interrupted
Where several apply, the first of 130, 4, 99, 3, 0 is taken.`

// Verdict is the word for a whole run with this exit code.
func Verdict(code int) string {
	switch code {
	case Pass:
		return "pass"
	case Setup:
		return "set-up failed"
	case Fail:
		return "fail"
	case Interrupted:
		return "interrupted"
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
