// SPDX-License-Identifier: AGPL-3.0-only

package closest

import "testing"

func TestMatch(t *testing.T) {
	names := []string{"smoke", "quick", "full"}
	for name, want := range map[string]string{"smke": "smoke", "QUICK": "quick", "ful": "full", "breakfast": "", "": ""} {
		if got := Match(name, names); got != want {
			t.Errorf("Match(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"", "abc", 3}, {"same", "same", 0}, {"ü", "u", 1},
		{"cleints", "clients", 1}, {"ba", "ab", 1}, {"abcd", "badc", 2}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
