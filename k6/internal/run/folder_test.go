// SPDX-License-Identifier: AGPL-3.0-only

package run

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestRunID(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	id, f := ID("", "quick", now)
	if !regexp.MustCompile(`^20260102-020405-quick-[0-9a-f]{4}$`).MatchString(id) || f != nil {
		t.Error(id)
	}
}

func TestReplaceLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "latest")
	for _, target := range []string{"a", "b"} {
		if err := replaceLink(link, target); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.Readlink(link); got != target {
			t.Errorf("points at %q", got)
		}
	}
	if err := errors.Join(os.Remove(link), os.WriteFile(link, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := replaceLink(link, "c"); err == nil {
		t.Error("a file was replaced")
	}
}

func TestGivenRunID(t *testing.T) {
	for _, id := range []string{"latest", "../up", "a b", ".hidden"} {
		if _, f := ID(id, "quick", time.Now()); f == nil {
			t.Errorf("%q was taken", id)
		}
	}
	if id, f := ID("mine-1.2", "quick", time.Now()); id != "mine-1.2" || f != nil {
		t.Error(id, f)
	}
}
