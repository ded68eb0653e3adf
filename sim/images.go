package sim

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/csisim/csisim/fakekubelet"
)

// RootFS is the root file system of the containers of an image, and what the image says of them.
type RootFS = fakekubelet.RootFS

// Maps reports whether one of the images, with or without its tag, is the one that a container names.
func Maps(images map[string]string, image string) bool { return fakekubelet.Maps(images, image) }

// hasImages reports whether some containers are programs.
func (o Options) hasImages() bool { return len(o.Images)+len(o.RootFS) > 0 }

// unpackImages unpacks images into the directory of the run.
func (c *Simulation) unpackImages() error {
	unpacked := maps.Clone(c.options.RootFS)
	for i, image := range slices.Sorted(maps.Keys(unpacked)) {
		root := unpacked[image]
		if root.Unpack == nil {
			continue
		}
		root.Dir = filepath.Join(c.run.work.Path(), "images", fmt.Sprint(i))
		if err := os.MkdirAll(root.Dir, 0o755); err != nil {
			return &EnvironmentError{"unpack images", err}
		}
		if err := root.Unpack(root.Dir); err != nil {
			return unpackError(image, err)
		}
		root.Unpack = nil
		unpacked[image] = root
	}
	c.options.RootFS = unpacked
	return nil
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
