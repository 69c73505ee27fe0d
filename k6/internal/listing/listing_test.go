// SPDX-License-Identifier: AGPL-3.0-only

package listing

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAFolderMayHaveAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `[x]*?\`)
	want := []string{filepath.Join(dir, "a", "1.js"), filepath.Join(dir, "b", "2.js")}
	for _, path := range append(want, filepath.Join(dir, "a", "3.txt")) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := In(dir, "*/*.js"); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	if got := In(filepath.Join(dir, "none"), "*"); len(got) != 0 {
		t.Fatalf("%q of a folder that does not exist", got)
	}
}
