// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func archive(t *testing.T, entries ...*tar.Header) *bytes.Buffer {
	t.Helper()
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, entry := range entries {
		entry.Mode = 0o644
		if entry.Typeflag == tar.TypeReg {
			entry.Size = 2
		}
		if err := w.WriteHeader(entry); err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag == tar.TypeReg {
			_, _ = w.Write([]byte("{}"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &text
}

func TestFilesComeHome(t *testing.T) {
	dir := t.TempDir()
	text := archive(t,
		&tar.Header{Name: "./", Typeflag: tar.TypeDir},
		&tar.Header{Name: "./pulsar-concurrent.json", Typeflag: tar.TypeReg},
		&tar.Header{Name: "./logs/runner-1.log", Typeflag: tar.TypeReg},
		&tar.Header{Name: "./.taken", Typeflag: tar.TypeReg},
		&tar.Header{Name: "./link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink})
	if err := untar(text, dir); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{"pulsar-concurrent.json": true, "logs/runner-1.log": true, ".taken": false, "link": false} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingIsWrittenOutside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := untar(archive(t, &tar.Header{Name: "../outside", Typeflag: tar.TypeReg}), dir); err == nil {
		t.Error("it was taken")
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "outside")); err == nil {
		t.Error("it was written")
	}
}

func TestAnArchiveThatWasCutIsRefused(t *testing.T) {
	text := archive(t, &tar.Header{Name: "result.json", Typeflag: tar.TypeReg})
	text.Truncate(513)
	if err := untar(text, t.TempDir()); err == nil {
		t.Error("it was taken")
	}
}
