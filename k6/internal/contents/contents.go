// SPDX-License-Identifier: AGPL-3.0-only

// Package contents identifies the programs of a testbed by their bytes: two builds that differ only in their paths are
// one build.
package contents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/listing"
	"windtunnel/k6/internal/seq"
	"windtunnel/k6/internal/testbed"
)

// MeasureSame ends each refusal of two sides that are the same. `k6 x comment` recognizes the refusal by this text.
const MeasureSame = "SAME=1 (--same) measures them anyway"

// Contents are SHA-256 digests in hexadecimal, by the name in the testbed's [names] or by the variable with the path.
type Contents map[string]string

// whichBuild are the variables that select the build and do not change how it runs (docs/how-to/compare-builds.md). Contents
// identify the build better.
var whichBuild = []string{"binary", "python", "source", "version", "wheel", "driver_version"}

// ofPython is the variable of a wheel: an installed wheel is part of the Python environment's digest.
const ofPython = "wheel"

// Side is the data for deciding whether two sides are the same. If a digest is unknown, it is missing and Whole is
// false.
type Side struct {
	Bed      string
	Settings map[string]any
	Contents Contents
	Whole    bool
}

// Of returns the Side of a testbed with values for its variables. It reads the files of the programs.
func Of(root string, ref environment.TestbedRef, bed testbed.Testbed) (Side, error) {
	side := Side{Bed: ref.Name, Settings: map[string]any{}, Contents: Contents{}, Whole: true}
	checked, err := testbed.Check(root, ref.Name, nil, ref.Variables)
	if err != nil {
		return side, err
	}
	paths := map[string]string{}
	for name, text := range checked.Names {
		if path := located(name, text); path != "" {
			paths[name] = path
		}
	}
	known := slices.Collect(maps.Values(paths))
	for name, variable := range bed.Variables {
		value, given := checked.Given[name]
		if !given {
			value = variable.Default
		}
		path, isText := value.(string)
		switch {
		case bed.IsPort(name):
		case variable.Type == "path":
			if !isText || path == "" || slices.Contains(known, path) || name == ofPython {
				continue
			}
			// A default program that is not installed runs on no side: its path is a setting.
			if _, err := os.Stat(path); !given && errors.Is(err, fs.ErrNotExist) {
				side.Settings[name] = path
				continue
			}
			paths[name] = path
		case !slices.Contains(whichBuild, name):
			side.Settings[name] = fmt.Sprint(value)
		}
	}
	for name, path := range paths {
		digest, err := digest(path)
		if err != nil || digest == "" {
			side.Whole = false
			continue
		}
		side.Contents[name] = digest
	}
	side.Whole = side.Whole && len(side.Contents) > 0
	return side, nil
}

// located is the path that a name stands for, "" if it stands for no path.
func located(name, text string) string {
	if filepath.IsAbs(text) {
		return text
	}
	if name != "program" || strings.Contains(text, "/") {
		return ""
	}
	path, err := exec.LookPath(text)
	if err != nil {
		return ""
	}
	return path
}

// Same reports whether two sides would run the same bytes with the same settings, as far as known.
func Same(a, b Side) bool {
	return a.Whole && b.Whole && a.Bed == b.Bed && maps.Equal(a.Contents, b.Contents) && maps.Equal(a.Settings, b.Settings)
}

// Changed names the program whose bytes have changed, "" if none has.
func (before Contents) Changed(now Contents) string {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now[name] != before[name] {
			return name
		}
	}
	return ""
}

// String returns text such as `program 0123456789ab`.
func (c Contents) String() string {
	return strings.Join(seq.Map(slices.Sorted(maps.Keys(c)), func(name string) string { return name + " " + c[name][:12] }), ", ")
}

// digest is the digest of a file, of all files in a folder, or of the packages in a Python environment. It is "" for a
// Python whose package folder is unknown.
func digest(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return ofFolder(path, leftOut)
	case !strings.HasPrefix(filepath.Base(path), "python"):
		return ofFile(path)
	}
	environment := filepath.Dir(filepath.Dir(path))
	config, err := os.ReadFile(filepath.Join(environment, "pyvenv.cfg"))
	if err != nil {
		return "", nil
	}
	packages := listing.In(environment, "lib/python*/site-packages")
	if len(packages) != 1 {
		return "", nil
	}
	installed, err := ofFolder(packages[0], ofInstalling)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for line := range strings.Lines(string(config)) {
		if strings.HasPrefix(line, "version") || strings.HasPrefix(line, "include-system") {
			fmt.Fprint(hash, line)
		}
	}
	fmt.Fprint(hash, installed)
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// leftOut reports whether to skip an entry of a source folder that no program reads: generated files, and names that
// begin with a dot.
func leftOut(path string, entry fs.DirEntry) bool {
	name := entry.Name()
	return strings.HasPrefix(name, ".") && path != "." || name == "__pycache__" || name == "node_modules" || strings.HasSuffix(name, ".pyc")
}

// ofInstalling reports whether a file of a Python environment only describes the installation of packages.
func ofInstalling(path string, entry fs.DirEntry) bool {
	name := entry.Name()
	about := strings.HasSuffix(filepath.Dir(path), ".dist-info") && name != "METADATA" && !entry.IsDir()
	return about || name == "__pycache__" || strings.HasSuffix(name, ".pyc")
}

func ofFolder(folder string, leftOut func(path string, entry fs.DirEntry) bool) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case leftOut(path, entry) && entry.IsDir():
			return fs.SkipDir
		case leftOut(path, entry), entry.IsDir(), entry.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
			return nil
		}
		own, err := ofFile(filepath.Join(folder, path))
		if err != nil {
			return nil //nolint:nilerr // skip a dangling link or a link to a folder
		}
		fmt.Fprintf(hash, "%q %s\n", path, own)
		return nil
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

func ofFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
