// SPDX-License-Identifier: AGPL-3.0-only

package plan

import "windtunnel/k6/internal/variables"

// Asked is the caller's request. All paths are absolute. Environ is the caller's environment, which k6 and the sidecar
// inherit.
type Asked struct {
	Root      string // the checkout
	Profile   string
	Env       string
	Only      string
	Testbed   string // NAME[:VARIABLE=VALUE,…], replaces the environment's testbed
	URL       string // of a system that is up already, replaces the environment's URL
	Dashboard bool
	Runners   int    // number of k6 processes that share the load; default 1
	Sidecar   string // path of the sidecar
	Environ   []string
}

// Getenv returns a variable of the caller's environment, "" if it is not set.
func (a Asked) Getenv(name string) string {
	return variables.In(a.Environ, name)
}
