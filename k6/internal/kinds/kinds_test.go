// SPDX-License-Identifier: AGPL-3.0-only

package kinds

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSidecarsKindsAreListed reads the names of the sidecar's kinds from its source: serde writes them in snake case.
func TestSidecarsKindsAreListed(t *testing.T) {
	source, err := os.ReadFile("../../../sidecar/src/probe/kinds.rs")
	if err != nil {
		t.Fatal(err)
	}
	_, enum, _ := strings.Cut(string(source), "#[serde(rename_all = \"snake_case\")]\npub enum ErrorKind {")
	enum, _, _ = strings.Cut(enum, "\n}\n")
	names := regexp.MustCompile(`(?m)^ +(\w+),$`).FindAllStringSubmatch(enum, -1)
	if len(names) < 25 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		snake := strings.ToLower(regexp.MustCompile(`\B[A-Z]`).ReplaceAllString(name[1], "_$0"))
		if All[snake].Says == "" {
			t.Errorf("the sidecar names %s, and kinds.json does not", snake)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		kind    string
		through bool
		want    string
	}{
		{"timeout", false, "the target did not answer in time"},
		{"timeout", true, "no answer came through the proxy in time; direct requests were answered"},
		{"corrupted", true, "the payload that came back differs from what was sent"},
		{"no_such_kind", false, "no such kind"},
	} {
		if got := Explain(c.kind, c.through); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
