package image

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Read is an image that was read.
type Read struct {
	// Config is its configuration.
	Config v1.Config
	// ID is the digest of its configuration, which names its layers. It identifies the image.
	ID    string
	image v1.Image
}

// Is reports whether a file or directory is an image rather than a program. Images are directories
// or archives, programs are neither.
func Is(file string) bool {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return false
	case info.IsDir():
		return true
	}
	archive, err := opened(context.Background(), file)
	if err != nil {
		return false
	}
	defer archive.Close()
	_, err = tar.NewReader(archive).Next()
	return err == nil || !isExecutable(info)
}

func isExecutable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

// IsRootFS reports whether a directory is a root file system instead of an OCI layout.
func IsRootFS(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, "oci-layout"))
	return errors.Is(err, fs.ErrNotExist)
}

// ReadFrom reads an image from an archive in the format of docker save, or from an OCI layout. If
// there are several images it reads the one with the name. An archive can be read, also by
// unpacking, until ctx is done.
func ReadFrom(ctx context.Context, file, named string) (*Read, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	var found v1.Image
	if info.IsDir() {
		found, err = readLayout(file, named)
	} else {
		found, err = readArchive(ctx, file, named)
	}
	if err != nil {
		return nil, err
	}
	config, err := found.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read its configuration: %w", err)
	}
	if has := config.OS + "/" + config.Architecture; has != "/" && has != "linux/"+runtime.GOARCH {
		return nil, fmt.Errorf("it is for %s, and this machine runs linux/%s", has, runtime.GOARCH)
	}
	id, err := found.ConfigName()
	if err != nil {
		return nil, fmt.Errorf("read its configuration: %w", err)
	}
	return &Read{Config: config.Config, ID: id.String(), image: found}, nil
}

func readArchive(ctx context.Context, file, named string) (v1.Image, error) {
	open := func() (io.ReadCloser, error) { return opened(ctx, file) }
	manifest, err := tarball.LoadManifest(open)
	if err != nil {
		return nil, fmt.Errorf("it is neither a program, nor a directory, nor an archive as docker save writes it: %w", err)
	}
	if len(manifest) == 1 {
		return tarball.Image(open, nil)
	}
	var has []string
	for _, m := range manifest {
		has = append(has, m.RepoTags...)
	}
	tag, err := name.NewTag(named)
	if err != nil {
		return nil, err
	}
	for _, one := range has {
		if other, err := name.NewTag(one); err == nil && other.Name() == tag.Name() {
			return tarball.Image(open, &other)
		}
	}
	return nil, fmt.Errorf("it has %d images, none of which is %s: %s", len(manifest), tag.Name(), strings.Join(has, ", "))
}

// archive is a file that can be read until its context is done. A reader may skip parts by seeking.
type archive struct {
	*os.File
	ctx context.Context
}

func (a archive) Read(text []byte) (int, error) { return readUntil{a.ctx, a.File}.Read(text) }

// readUntil reads until its context is done.
type readUntil struct {
	ctx context.Context
	io.Reader
}

func (r readUntil) Read(text []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(text)
}

// opened opens a file, which may be compressed.
func opened(ctx context.Context, file string) (io.ReadCloser, error) {
	from, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	f := archive{from, ctx}
	text, err := gzip.NewReader(f)
	if err == nil {
		return struct {
			io.Reader
			io.Closer
		}{text, f}, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Annotations with the name of an image in an OCI layout. The specification's annotation contains a
// tag or a name, and containerd's a name.
const (
	refName        = "org.opencontainers.image.ref.name"
	containerdName = "io.containerd.image.name"
)

// readLayout reads the images with the name or, if there are none, all.
func readLayout(dir, named string) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("read the OCI layout: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the OCI layout: %w", err)
	}
	if slices.ContainsFunc(manifest.Manifests, func(d v1.Descriptor) bool { return isNamed(d, named) }) {
		index = mutate.RemoveManifests(index, func(d v1.Descriptor) bool { return !isNamed(d, named) })
	}
	images, err := partial.FindImages(index, func(d v1.Descriptor) bool {
		return d.Platform == nil || d.Platform.Architecture == "" || d.Platform.OS == "linux" && d.Platform.Architecture == runtime.GOARCH
	})
	if err != nil {
		return nil, fmt.Errorf("read the OCI layout: %w", err)
	}
	if len(images) != 1 {
		return nil, fmt.Errorf("the OCI layout has %d images for linux/%s: want one, or one that its annotation %s calls %s", len(images), runtime.GOARCH, refName, named)
	}
	return images[0], nil
}

// isNamed reports whether an image of a layout has that name or tag.
func isNamed(d v1.Descriptor, named string) bool {
	tag, err := name.NewTag(named)
	if err != nil {
		return false
	}
	for _, has := range []string{d.Annotations[refName], d.Annotations[containerdName]} {
		other, err := name.NewTag(has)
		if err == nil && other.Name() == tag.Name() {
			return true
		}
	}
	return d.Annotations[refName] == tag.TagStr()
}
