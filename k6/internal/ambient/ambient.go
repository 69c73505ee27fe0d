// SPDX-License-Identifier: AGPL-3.0-only

// Package ambient knows the settings of a shell that would change what is measured although nobody asked for them: the path of
// requests, whom they trust, how names are resolved, and how Go's runtime works. A k6 that measures, and the sidecar, do not get
// them; builds do. docs/how-to/add-an-environment.md says how to use one on purpose.
package ambient

import (
	"fmt"
	"slices"
	"strings"
)

// names are in both cases where they have two.
var names = []string{
	// Path of requests.
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "LD_PRELOAD", "LD_AUDIT",
	// Trust; SSLKEYLOGFILE makes k6 write the keys of each connection.
	"SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE",
	// Names: resolv.conf(5), gethostbyname(3).
	"RES_OPTIONS", "LOCALDOMAIN", "HOSTALIASES",
	// Go's runtime.
	"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS",
}

func isAmbient(name string) bool {
	return slices.Contains(names, name) || strings.HasSuffix(name, "_PROXY") && slices.Contains(names, strings.ToLower(name))
}

// Without returns an environment without ambient settings, and the names of those that were left out and said something.
func Without(environ []string) (kept, left []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case !isAmbient(name):
			kept = append(kept, pair)
		case value != "" && !slices.Contains(left, name):
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return kept, left
}

// Line names the settings of an environment that what measures does not get, "" without any.
func Line(environ []string) string {
	_, left := Without(environ)
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("not passed on to what measures, since it would change path, trust or runtime unasked: %s; an environment file has proxy and tls for it",
		strings.Join(left, ", "))
}
