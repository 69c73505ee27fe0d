// SPDX-License-Identifier: AGPL-3.0-only

package contents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func of(t *testing.T, path string) string {
	t.Helper()
	digest, err := digest(path)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestDigestOfAFile(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "a"), "abc")
	if got := of(t, path); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
	if _, err := digest("/no/such"); err == nil {
		t.Error("a file that there is not has a digest")
	}
}

func TestDigestOfAFolderIsOfWhatIsRead(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		write(t, filepath.Join(dir, "p/app.py"), "x = 1")
		write(t, filepath.Join(dir, "p/__pycache__/app.pyc"), dir)
		write(t, filepath.Join(dir, ".git/HEAD"), dir)
	}
	if of(t, a) != of(t, b) {
		t.Error("what git and Python make of a folder tells it from another")
	}
	write(t, filepath.Join(b, "p/app.py"), "x = 2")
	if of(t, a) == of(t, b) {
		t.Error("another source is the same")
	}
	write(t, filepath.Join(a, "p/app.py"), "x = 2")
	if err := os.Rename(filepath.Join(a, "p/app.py"), filepath.Join(a, "p/other.py")); err != nil {
		t.Fatal(err)
	}
	if of(t, a) == of(t, b) {
		t.Error("another name is the same")
	}
}

// virtual is a virtual environment with a package.
func virtual(t *testing.T, version, source string) (python string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pyvenv.cfg"), "home = "+dir+"\nversion = "+version+"\n")
	packages := filepath.Join(dir, "lib/python3.11/site-packages")
	write(t, filepath.Join(packages, "relay/main.py"), source)
	write(t, filepath.Join(packages, "relay-1.dist-info/METADATA"), "Version: 1")
	write(t, filepath.Join(packages, "relay-1.dist-info/RECORD"), dir)
	return write(t, filepath.Join(dir, "bin/python"), "an interpreter")
}

func TestDigestOfAPythonIsOfItsPackages(t *testing.T) {
	first := of(t, virtual(t, "3.11.2", "x = 1"))
	if first != of(t, virtual(t, "3.11.2", "x = 1")) {
		t.Error("where an environment lies tells it from another")
	}
	if first == of(t, virtual(t, "3.11.2", "x = 2")) || first == of(t, virtual(t, "3.13.0", "x = 1")) {
		t.Error("another package, or another Python, is the same")
	}
	if got := of(t, write(t, filepath.Join(t.TempDir(), "bin/python3"), "x")); got != "" {
		t.Errorf("a Python whose packages nobody knows has the digest %s", got)
	}
}

func TestSameIsOnlyWhatIsKnown(t *testing.T) {
	side := func(change func(*Side)) Side {
		s := Side{Bed: "b", Settings: map[string]any{"queue": "5"}, Contents: Contents{"program": strings.Repeat("ab", 32)}, Whole: true}
		change(&s)
		return s
	}
	one := side(func(*Side) {})
	if !Same(one, side(func(*Side) {})) {
		t.Error("the same is not")
	}
	for name, change := range map[string]func(*Side){
		"testbed":  func(s *Side) { s.Bed = "c" },
		"setting":  func(s *Side) { s.Settings["queue"] = "6" },
		"contents": func(s *Side) { s.Contents = Contents{"program": strings.Repeat("ac", 32)} },
		"unknown":  func(s *Side) { s.Whole = false },
	} {
		if other := side(change); Same(one, other) || Same(other, one) {
			t.Errorf("another %s is the same", name)
		}
	}
	if Same(Side{}, Side{}) {
		t.Error("two of which nothing is known are the same")
	}
	if got := one.Contents.Changed(side(func(s *Side) { s.Contents = Contents{} }).Contents); got != "program" {
		t.Errorf("changed %q", got)
	}
	if got := one.Contents.String(); got != "program abababababab" {
		t.Error(got)
	}
}
