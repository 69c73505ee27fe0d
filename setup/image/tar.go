package main

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// fill writes what an image's one layer has: the folder, and a /tmp.
func fill(out io.Writer, folder string, at time.Time) error {
	layer := tar.NewWriter(out)
	if err := add(layer, folder, home, at); err != nil {
		return err
	}
	if err := layer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777, ModTime: at, Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	return layer.Close()
}

// add writes a folder's files and folders under a name, in order of their paths, as those of one time; a folder results is the user's.
func add(archive *tar.Writer, folder, under string, at time.Time) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		name := path.Join(under, filepath.ToSlash(relative))
		if name == "." {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header := &tar.Header{Name: name, ModTime: at, Format: tar.FormatUSTAR}
		switch {
		case info.IsDir():
			header.Typeflag, header.Name, header.Mode = tar.TypeDir, name+"/", 0o755
			if name == home+"/results" {
				header.Uid, header.Gid = user, user
			}
			return archive.WriteHeader(header)
		case info.Mode()&fs.ModeSymlink != 0:
			return link(archive, header, file)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder", file)
		}
		header.Typeflag, header.Size, header.Mode = tar.TypeReg, info.Size(), 0o644
		if info.Mode()&0o100 != 0 {
			header.Mode = 0o755
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		return copyOf(archive, file)
	})
}

// link writes a link to a file beside it, such as a second name of a program; others could lead out of the folder.
func link(archive *tar.Writer, header *tar.Header, file string) error {
	target, err := os.Readlink(file)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(filepath.Dir(file), target)); err != nil || target != filepath.Base(target) || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a link to %s, which is no file beside it", file, target)
	}
	header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, target, 0o777
	return archive.WriteHeader(header)
}

func copyOf(out io.Writer, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(out, in)
	return err
}
