// Package image builds, pulls, reads and unpacks container images without a container engine. An
// image that it builds has a layer with programs. For dynamically linked programs, the layer also
// contains this machine's libraries.
package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Image is an image to make.
type Image struct {
	// Names are its names with tags.
	Names []string
	// Files are files of this machine by their paths in the image.
	Files map[string]string
	// Entrypoint is the command of containers that have no command of their own. Default: none.
	Entrypoint []string
}

// Write writes images as an archive in the format of docker save.
func Write(out io.Writer, architecture string, images ...Image) error {
	all := map[name.Tag]v1.Image{}
	for _, i := range images {
		made, err := i.make(architecture)
		if err != nil {
			return fmt.Errorf("make image %s: %w", strings.Join(i.Names, ", "), err)
		}
		for _, n := range i.Names {
			tag, err := name.NewTag(n)
			if err != nil {
				return fmt.Errorf("image %q: %w", n, err)
			}
			all[tag] = made
		}
	}
	return tarball.MultiWrite(all, out)
}

// ID returns the digest of the image's configuration, which names its layers. It identifies the
// image.
func (i Image) ID(architecture string) (string, error) {
	made, err := i.make(architecture)
	if err != nil {
		return "", fmt.Errorf("make image %s: %w", strings.Join(i.Names, ", "), err)
	}
	id, err := made.ConfigName()
	return id.String(), err
}

func (i Image) make(architecture string) (v1.Image, error) {
	files := maps.Clone(i.Files)
	for _, at := range slices.Sorted(maps.Keys(i.Files)) {
		libraries, err := Libraries(i.Files[at])
		if err != nil {
			return nil, err
		}
		for _, l := range libraries {
			files[l] = l
		}
	}
	content, err := layer(files)
	if err != nil {
		return nil, err
	}
	made, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, made)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	config.Config.Entrypoint = i.Entrypoint
	config.Config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return mutate.ConfigFile(image, config)
}

// layer returns a tar archive with files and their directories. Equal files give equal archives.
func layer(files map[string]string) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	made := map[string]bool{"/": true, ".": true}
	var mkdir func(dir string) error
	mkdir = func(dir string) error {
		if made[dir] {
			return nil
		}
		made[dir] = true
		if err := mkdir(path.Dir(dir)); err != nil {
			return err
		}
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755})
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, at := range slices.Sorted(maps.Keys(files)) {
		if err := mkdir(path.Dir(at)); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(files[at])
		if err != nil {
			return nil, err
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(at, "/"), Mode: 0o755, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), archive.Close()
}
