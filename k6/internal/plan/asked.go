// SPDX-License-Identifier: AGPL-3.0-only

package plan

import "strings"

// Asked is what the caller asks for. All paths are absolute. Environ is the caller's environment, which k6 and the sidecar inherit.
type Asked struct {
	Root      string // the checkout
	Profile   string
	Env       string
	Only      string
	Testbed   string // NAME[:VARIABLE=VALUE,…], in place of the environment's
	URL       string // of the system that is up, in place of what the environment says of it
	Dashboard bool
	Runners   int    // k6 processes that make the load together; 1 unless given
	Sidecar   string // its binary
	Environ   []string
}

// Getenv returns a variable of the caller's environment, "" where it is not set.
func (a Asked) Getenv(name string) string {
	for i := len(a.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}
