// SPDX-License-Identifier: AGPL-3.0-only

// Package ambient lists settings of a shell that change a measurement without being asked for: the path of requests,
// trusted certificates, name resolution, and Go's runtime. They are kept from the measuring k6 and the sidecar, but not
// from builds. docs/how-to/add-an-environment.md says how to use such a setting on purpose.
package ambient

import (
	"fmt"
	"slices"
	"strings"
)

// names are in lower and upper case if programs read both.
var names = []string{
	// Path of requests.
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "LD_PRELOAD", "LD_AUDIT",
	// Trusted certificates. SSLKEYLOGFILE makes k6 write the keys of each connection.
	"SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE",
	// Name resolution: resolv.conf(5), gethostbyname(3).
	"RES_OPTIONS", "LOCALDOMAIN", "HOSTALIASES",
	// Go's runtime.
	"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS",
}

func isAmbient(name string) bool {
	return slices.Contains(names, name) || strings.HasSuffix(name, "_PROXY") && slices.Contains(names, strings.ToLower(name))
}

// Without returns an environment without ambient settings, and the names of the non-empty settings that it removed.
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

// Line names the settings that the measuring programs do not get; "" for an environment without them.
func Line(environ []string) string {
	_, left := Without(environ)
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("not passed on to what measures, since it would change path, trust or runtime unasked: %s; an environment file has proxy and tls for it",
		strings.Join(left, ", "))
}
