// SPDX-License-Identifier: AGPL-3.0-only

package variables

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel/k6/internal/exit"
)

func TestWhatIsNotAsTheRegistryHasItIsToldAndWritten(t *testing.T) {
	base := t.TempDir()
	for _, folder := range []string{"docs/reference", "k6/lists"} {
		if err := os.MkdirAll(filepath.Join(base, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	page := filepath.Join(base, "docs/reference/variables.md")
	const head, tail = "# Profiles\n\n", "\nThe rest.\n"
	text := head + "<!-- `make variables` writes from here -->\n\nSTALE\n<!-- to here -->\n" + tail
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}

	var stderr bytes.Buffer
	if code := Keep(&stderr, base, false); code != exit.Usage || strings.Count(stderr.String(), "run `make variables`\n") != 2 {
		t.Errorf("code %d, %s", code, &stderr)
	}
	stderr.Reset()
	for _, write := range []bool{true, false} {
		if code := Keep(&stderr, base, write); code != exit.Pass || stderr.Len() > 0 {
			t.Errorf("write %v: code %d, %s", write, code, &stderr)
		}
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(written)
	if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) || strings.Contains(got, "STALE") || !strings.Contains(got, "| `CLIENTS` |") {
		t.Error(got)
	}
}

func TestWhatCannotBeReadIsTold(t *testing.T) {
	var stderr bytes.Buffer
	if code := Keep(&stderr, t.TempDir(), true); code != exit.Usage || !strings.Contains(stderr.String(), "docs/reference/variables.md") {
		t.Errorf("code %d, %s", code, &stderr)
	}
}
