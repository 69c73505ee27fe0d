// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"os"
	"strings"
	"testing"
)

// TestKeptVariablesAreDocumented keeps the one list and its page together.
func TestKeptVariablesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/variables.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range keptVariables[:4] {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Error("`" + name + "`")
		}
	}
	for _, prefix := range keptPrefixes {
		if !strings.Contains(string(page), "`"+prefix+"…`") {
			t.Error("`" + prefix + "…`")
		}
	}
}
