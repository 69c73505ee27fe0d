// SPDX-License-Identifier: AGPL-3.0-only

package root

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"scripts/pulsar", "environments", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	below := filepath.Join(base, "scripts/pulsar")
	for name, c := range map[string]struct{ flag, variable, dir string }{
		"upward": {"", "", below}, "flag": {base, "/nowhere", "/"}, "variable": {"", base, "/"}, "relative": {"../..", "", below},
	} {
		if got, err := Find(c.flag, c.variable, c.dir); got != base || err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if _, err := Find(filepath.Join(base, "other"), "", below); err == nil {
		t.Error("a folder that is no checkout was taken")
	}
	if _, err := Find("", "", t.TempDir()); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}
