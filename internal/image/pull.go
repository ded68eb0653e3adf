package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Puller pulls images from registries, with docker's credentials, and caches them by digest.
type Puller struct {
	// Dir is the cache, with an OCI layout for each image. It is created when it is needed.
	Dir string
}

// Pull pulls the image for this machine. It resolves a tag each time, and pulls only layers that
// are not cached.
func (p Puller) Pull(ctx context.Context, reference string) (*Read, error) {
	ref, err := name.ParseReference(reference)
	if err != nil {
		return nil, err
	}
	found, err := remote.Image(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil {
		return nil, err
	}
	digest, err := found.Digest()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(p.Dir, digest.Algorithm, digest.Hex)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		err = p.keep(found, dir)
		if err != nil {
			return nil, fmt.Errorf("fetch its layers: %w", err)
		}
	}
	return ReadFrom(ctx, dir, reference)
}

// keep stores an image in a directory, completely or not at all.
func (p Puller) keep(found v1.Image, dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(p.Dir, "partial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	path, err := layout.Write(partial, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendImage(found); err != nil {
		return err
	}
	// Otherwise another csisim was faster.
	if err := os.Rename(partial, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
