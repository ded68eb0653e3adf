package sim

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/workdir"
)

// RootFS is the root file system of an image's containers, with the image's configuration.
type RootFS = fakekubelet.RootFS

// Maps reports whether images has an entry for a container's image, with or without its tag.
func Maps(images map[string]string, image string) bool { return fakekubelet.Maps(images, image) }

// hasImages reports whether some containers are programs.
func (o Options) hasImages() bool { return len(o.Images)+len(o.RootFS) > 0 || o.Pull != nil }

// unpackImages unpacks images into the directory of the run.
func (c *Simulation) unpackImages() error {
	if c.options.hasImages() {
		c.images.Dir = filepath.Join(c.run.work.Path(), c.cluster, "images")
		if err := workdir.RemoveTree(c.images.Dir); err != nil { // those of an earlier cluster
			return &EnvironmentError{Doing: "remove old images", Err: err}
		}
	}
	unpacked := maps.Clone(c.options.RootFS)
	for _, image := range slices.Sorted(maps.Keys(unpacked)) {
		root, err := c.images.Unpack(c.options.Context, unpacked[image])
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

// unpackError reports whether the image is at fault, or the disk to which it is unpacked.
func unpackError(image string, err error) error {
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, disk) {
			return &EnvironmentError{Doing: "unpack image " + image, Err: err}
		}
	}
	return &ConfigError{Subject: "image " + image, Problem: err.Error()}
}
