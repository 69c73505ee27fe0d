// SPDX-License-Identifier: AGPL-3.0-only

package plan

import (
	"strings"
	"testing"
)

// A secret that was read whole from a file ends with a line break. No password has one, and a panel would only say
// "wrong password".
func TestSecretsThatEndBadly(t *testing.T) {
	for secret, want := range map[string]string{
		"geheim":     "",
		"geheim\n":   "MARZBAN_PASSWORD ends in a line feed, which is no part of a secret: set it without",
		"geheim\r":   "MARZBAN_PASSWORD ends in a carriage return, which",
		"geheim\r\n": "MARZBAN_PASSWORD ends in a carriage return and a line feed, which",
	} {
		a, _ := askedPanels(t, "MARZBAN_PASSWORD="+secret)
		_, f := Make(a)
		if (f == nil) != (want == "") || f != nil && !strings.Contains(f.Message, want) {
			t.Errorf("%q: %v, want %q", secret, f, want)
		}
		if f != nil && strings.Contains(f.Message, "geheim") {
			t.Errorf("%q is shown: %v", secret, f)
		}
	}
	a, _ := askedPanels(t, "MARZBAN_PASSWORD=geheim ", "http_proxy=http://proxy.example.net:3128")
	p, f := Make(a)
	if f != nil {
		t.Fatal(f)
	}
	said := strings.Join(p.LeftOut, "\n")
	for _, want := range []string{"MARZBAN_PASSWORD ends in a space: set it without, unless", "not passed on to what measures, since it would change path, trust or runtime unasked: http_proxy;"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
}
