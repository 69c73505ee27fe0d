// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// If git cannot compare the files with the commit, the checkout does not count as clean.
func TestRevisionOfACheckoutThatCannotBeLookedAt(t *testing.T) {
	root := t.TempDir()
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--allow-empty", "-m", "first"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("no git: %s", out)
		}
	}
	if got := gitRevision(root); got == "" || strings.Contains(got, "-") {
		t.Errorf("%q of a clean checkout", got)
	}
	if err := os.WriteFile(filepath.Join(root, ".git", "index"), []byte("no index"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := gitRevision(root); !strings.HasSuffix(got, "-unknown") {
		t.Errorf("%q of a checkout whose index cannot be read", got)
	}
}
