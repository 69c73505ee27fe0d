// SPDX-License-Identifier: AGPL-3.0-only

package ambient

import (
	"slices"
	"strings"
	"testing"
)

func TestWithout(t *testing.T) {
	environ := []string{"PATH=/bin", "http_proxy=http://p:1", "HTTPS_PROXY=http://p:1", "All_Proxy=kept", "NO_PROXY=", "SSL_CERT_FILE=/ca.pem", "GODEBUG=netdns=cgo",
		"RES_OPTIONS=timeout:9", "LOCALDOMAIN=x", "HOSTALIASES=/h", "GOPROXY=https://proxy.example", "PANEL_URL=http://127.0.0.1"}
	kept, left := Without(environ)
	if want := []string{"PATH=/bin", "All_Proxy=kept", "GOPROXY=https://proxy.example", "PANEL_URL=http://127.0.0.1"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	want := []string{"GODEBUG", "HOSTALIASES", "HTTPS_PROXY", "LOCALDOMAIN", "RES_OPTIONS", "SSL_CERT_FILE", "http_proxy"}
	if !slices.Equal(left, want) {
		t.Errorf("left out %q, want %q", left, want)
	}
	if line := Line(environ); !strings.Contains(line, "http_proxy") || strings.Contains(line, "http://p:1") {
		t.Errorf("%q names the variables, and none of their values, which may hold a password", line)
	}
	if line := Line(kept); line != "" {
		t.Errorf("%q of nothing", line)
	}
}
