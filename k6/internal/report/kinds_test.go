// SPDX-License-Identifier: AGPL-3.0-only

package report

import (
	"os"
	"regexp"
	"testing"
)

// TestEveryKindIsExplained reads the kinds from where they are made.
func TestEveryKindIsExplained(t *testing.T) {
	source, err := os.ReadFile("../../../lib/errors.js")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)export const KINDS = [^\[]*\[(.*?)\]`).FindSubmatch(source)
	if list == nil {
		t.Fatal("lib/errors.js has no list KINDS")
	}
	found := map[string]bool{}
	for _, name := range regexp.MustCompile(`'([^']+)'`).FindAllSubmatch(list[1], -1) {
		kind := string(name[1])
		found[kind] = true
		if kinds[kind] == "" {
			t.Errorf("lib/errors.js names %s; explain it in kinds.go", kind)
		}
	}
	for kind := range kinds {
		if !found[kind] {
			t.Errorf("kinds.go explains %s, which lib/errors.js does not name", kind)
		}
	}
}
