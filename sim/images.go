package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/csisim/csisim/fakekubelet"
)

// RootFS is the root file system of the containers of an image, and the image's configuration of
// them.
type RootFS = fakekubelet.RootFS

// Maps reports whether one of the images, with or without its tag, is the one that a container names.
func Maps(images map[string]string, image string) bool { return fakekubelet.Maps(images, image) }

// hasImages reports whether some containers are programs.
func (o Options) hasImages() bool { return len(o.Images)+len(o.RootFS) > 0 || o.Pull != nil }

// unpackImages unpacks images into the directory of the run.
func (c *Simulation) unpackImages() error {
	if c.options.hasImages() {
		c.images.dir = filepath.Join(c.run.work.Path(), c.cluster, "images")
	}
	unpacked := maps.Clone(c.options.RootFS)
	for _, image := range slices.Sorted(maps.Keys(unpacked)) {
		root, err := c.images.unpack(c.options.Context, unpacked[image])
		if ended := context.Cause(c.options.Context); ended != nil {
			return ended
		}
		if err != nil {
			return unpackError(image, err)
		}
		unpacked[image] = root
	}
	c.options.RootFS = unpacked
	return nil
}

// images are the root file systems that were unpacked.
type images struct {
	lock sync.Mutex
	dir  string // of all
	n    int
	byID map[string]string // the directory of each
	done bool
}

// unpack unpacks a root file system unless it is a directory, or there already.
func (i *images) unpack(ctx context.Context, root RootFS) (RootFS, error) {
	if root.Unpack == nil {
		return root, nil
	}
	unpack := root.Unpack
	root.Unpack = nil
	if root.Dir = i.byID[root.ID]; root.ID != "" && root.Dir != "" {
		return root, nil
	}
	root.Dir = filepath.Join(i.dir, fmt.Sprint(i.n))
	i.n++
	if err := os.MkdirAll(root.Dir, 0o755); err != nil {
		return root, err
	}
	if err := unpack(ctx, root.Dir); err != nil {
		return root, errors.Join(err, os.RemoveAll(root.Dir))
	}
	if i.byID == nil {
		i.byID = map[string]string{}
	}
	i.byID[root.ID] = root.Dir
	return root, nil
}

// errEnded is the error for requests of an image after the cluster has ended.
var errEnded = errors.New("the cluster has ended")

// pull fetches and unpacks an image, one at a time as kubelets do.
func (c *Simulation) pull(ctx context.Context, image string) (RootFS, error) {
	c.images.lock.Lock()
	defer c.images.lock.Unlock()
	if c.images.done {
		return RootFS{}, errEnded
	}
	root, err := c.options.Pull(ctx, image)
	if err != nil {
		return root, err
	}
	return c.images.unpack(ctx, root)
}

// end waits for the image that is being unpacked, and prevents further ones.
func (i *images) end() {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.done = true
}

// unpackError says whether the image is at fault or the disk that it is unpacked to.
func unpackError(image string, err error) error {
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, disk) {
			return &EnvironmentError{"unpack image " + image, err}
		}
	}
	return &ConfigError{"image " + image, err.Error()}
}
