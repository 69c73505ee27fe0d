package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var of = release{version: "1.2.3", revision: "abc", time: time.Unix(1_700_000_000, 0).UTC()}

// unpacked is a folder as an archive has it; times and order of making differ from call to call.
func unpacked(t *testing.T, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range names {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "results"), 0o700), os.Chmod(filepath.Join(folder, "lib/a.js"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// extract unpacks an OCI archive with the standard library alone.
func extract(t *testing.T, archive io.Reader) string {
	t.Helper()
	folder := t.TempDir()
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return folder
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(reader); err == nil {
				err = os.WriteFile(name, content, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWrite(t *testing.T) {
	var first, second bytes.Buffer
	for out, names := range map[*bytes.Buffer][]string{&first: {"bin/k6", "lib/a.js"}, &second: {"lib/a.js", "bin/k6"}} {
		folder := unpacked(t, names...)
		if err := write(of, []string{"amd64=" + folder, "arm64=" + folder}, out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("equal folders give different images")
	}
	path, err := layout.FromPath(extract(t, &first))
	if err != nil {
		t.Fatal(err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("the archive has %+v", manifest.Manifests)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	images, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, one := range images.Manifests {
		of = append(of, one.Platform.String())
		if one.ArtifactType != "" {
			t.Errorf("the index calls an image an artifact of %s", one.ArtifactType)
		}
	}
	if got := strings.Join(of, " "); got != "linux/amd64 linux/arm64" {
		t.Errorf("images of %s", got)
	}
	image, err := index.Image(images.Manifests[1].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if command := strings.Join(config.Config.Entrypoint, " "); command != "k6" {
		t.Errorf("it starts %q", command)
	}
	if config.Architecture != "arm64" || config.Config.User != "1000:1000" || config.Config.Labels["org.opencontainers.image.revision"] != "abc" {
		t.Errorf("the configuration is %+v", config)
	}
}

func TestFill(t *testing.T) {
	var out bytes.Buffer
	folder := unpacked(t, "bin/k6", "lib/a.js")
	if err := os.Symlink("k6", filepath.Join(folder, "bin/windtunnel")); err != nil {
		t.Fatal(err)
	}
	if err := fill(&out, folder, of.time); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		name string
		mode int64
		uid  int
	}
	want := []entry{
		{"windtunnel/", 0o755, 0}, {"windtunnel/bin/", 0o755, 0}, {"windtunnel/bin/k6", 0o755, 0}, {"windtunnel/bin/windtunnel", 0o777, 0},
		{"windtunnel/lib/", 0o755, 0},
		{"windtunnel/lib/a.js", 0o644, 0}, {"windtunnel/results/", 0o755, user}, {"tmp/", 0o1777, 0},
	}
	reader := tar.NewReader(&out)
	for _, want := range want {
		header, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		if is := header.Linkname == "k6"; is != (want.name == "windtunnel/bin/windtunnel") {
			t.Errorf("%s is a link to %q", header.Name, header.Linkname)
		}
		if got := (entry{header.Name, header.Mode, header.Uid}); got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
		if !header.ModTime.Equal(of.time) {
			t.Errorf("%s is of %s", header.Name, header.ModTime)
		}
	}
	if _, err := reader.Next(); err != io.EOF {
		t.Error("the layer has more")
	}
}

func TestRefused(t *testing.T) {
	linked := unpacked(t, "lib/a.js")
	if err := os.Symlink("/etc", filepath.Join(linked, "etc")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"amd64", "amd64=" + filepath.Join(linked, "none"), "amd64=" + linked} {
		if err := write(of, []string{folder}, io.Discard); err == nil {
			t.Errorf("%s is taken", folder)
		}
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := run([]string{"1.2.3", "abc", "0", file}, []string{"amd64=/none"}); err == nil {
		t.Error("a folder that is not there is taken")
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Error("what failed left a file")
	}
}
