// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// untar writes the files of an archive below a folder. It writes no links and nothing outside the folder. It skips files
// whose names begin with a dot.
func untar(archive io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	files := tar.NewReader(archive)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive was cut short: %w", err)
		}
		name := filepath.Clean(header.Name)
		if header.Typeflag != tar.TypeReg || strings.HasPrefix(filepath.Base(name), ".") {
			continue
		}
		if err := write(root, name, files); err != nil {
			return err
		}
	}
}

// write writes one file and makes its folders; root rejects paths outside it.
func write(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
