// Command image makes the container image of a release out of unpacked archives, which have all that it needs: so it has no base.
// Equal folders give equal bytes. Usage: image VERSION REVISION SECONDS FILE ARCHITECTURE=FOLDER...
// REVISION is the commit, SECONDS its time since 1970, FILE the OCI archive that is written, with an image for each architecture.
package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	home = "windtunnel"
	// Nobody in particular; results/ is theirs.
	user = 1000
)

// release says of which commit the images are.
type release struct {
	version, revision string
	time              time.Time
}

func main() {
	if len(os.Args) < 6 {
		fmt.Fprintln(os.Stderr, "usage: image VERSION REVISION SECONDS FILE ARCHITECTURE=FOLDER...")
		os.Exit(2)
	}
	if err := run(os.Args[1:5], os.Args[5:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(4)
	}
}

func run(of, folders []string) (err error) {
	seconds, err := strconv.ParseInt(of[2], 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no time in seconds", of[2])
	}
	file, err := os.Create(of[3])
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			os.Remove(of[3])
		}
	}()
	return write(release{version: of[0], revision: of[1], time: time.Unix(seconds, 0).UTC()}, folders, file)
}

// write writes an OCI archive with one index, of an image for each ARCHITECTURE=FOLDER.
func write(of release, folders []string, out io.Writer) error {
	var index v1.ImageIndex = empty.Index
	for _, one := range folders {
		architecture, folder, ok := strings.Cut(one, "=")
		if !ok {
			return fmt.Errorf("%q is no ARCHITECTURE=FOLDER", one)
		}
		image, err := imageOf(of, architecture, folder)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        plain{image},
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	scratch, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	path, err := layout.Write(scratch, empty.Index)
	if err != nil {
		return err
	}
	// The first is what skopeo and podman know an image by, the second what containerd and Docker do.
	names := layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": of.version,
		"io.containerd.image.name":          "localhost/windtunnel:" + of.version,
	})
	if err := path.AppendIndex(index, names); err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	if err := add(archive, scratch, "", of.time); err != nil {
		return err
	}
	return archive.Close()
}

// plain is an image without a type of artifact, which the library else names in an index: skopeo drops it there, as of images it says
// nothing, and the index would have another digest where it is pushed.
type plain struct{ v1.Image }

func (plain) ArtifactType() (string, error) { return "", nil }

func imageOf(of release, architecture, folder string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(fill(writer, folder, of.time)) }()
		return reader, nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: of.time}
	image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: created, CreatedBy: "setup/dist"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, created
	config.Config = v1.Config{
		Entrypoint: []string{"k6"},
		Env:        []string{"PATH=/" + home + "/bin", "HOME=/tmp"},
		WorkingDir: "/" + home,
		User:       fmt.Sprintf("%d:%d", user, user),
		Labels: map[string]string{
			"org.opencontainers.image.title":    "windtunnel",
			"org.opencontainers.image.version":  of.version,
			"org.opencontainers.image.revision": of.revision,
			"org.opencontainers.image.licenses": "Apache-2.0 AND AGPL-3.0-only",
		},
	}
	image, err = mutate.ConfigFile(image, config)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigMediaType(image, types.OCIConfigJSON), nil
}
