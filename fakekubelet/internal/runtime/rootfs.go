package runtime

import (
	"context"
	"strings"
)

// RootFS is the root file system of the containers of an image, with the image's configuration.
type RootFS struct {
	// Dir is a directory of the host. It stays unchanged.
	Dir string
	// ID distinguishes the image from all others. Default: each container has its own unpacked
	// copy.
	ID string
	// Unpack fills a directory that replaces Dir, and stops when the context is done. Default: Dir
	// is there.
	Unpack func(ctx context.Context, dir string) error
	// Entrypoint is the default command of a container, and Command contains its default arguments.
	Entrypoint, Command []string
	// Env is the container's environment, "NAME=value". The pod can override each name.
	Env []string
	// User is the user of the container unless its pod sets one: see machine.Root. Default: root.
	User string
	// WorkingDir is its initial directory. Default: /.
	WorkingDir string
}

// Executable returns the program of an image; empty if it has none. It looks up the image as
// written, and without its tag and digest.
func (r *Runtime) Executable(image string) string {
	program, _ := OfImage(r.options.Images, image)
	return program
}

// RootFS returns the root file system of an image, looked up as in Executable; nil if it has none.
func (r *Runtime) RootFS(image string) *RootFS {
	root, found := OfImage(r.options.RootFS, image)
	if !found {
		root, found = r.pulled[image]
	}
	if !found {
		return nil
	}
	return &root
}

// Has reports whether an image is mapped to a program or a root file system.
func (r *Runtime) Has(image string) bool { return r.Executable(image) != "" || r.RootFS(image) != nil }

// Runs reports whether containers of an image have to be programs; otherwise they are records.
func (r *Runtime) Runs(image string) bool {
	return r.options.RefuseUnmapped || r.options.Pull != nil || r.Has(image)
}

// Mixed reports whether some containers are programs and others are records, depending on their
// images.
func (r *Runtime) Mixed() bool {
	return len(r.options.Images)+len(r.options.RootFS) > 0 && !r.options.RefuseUnmapped && r.options.Pull == nil
}

// OfImage returns the value of an image. It looks up the image as written, and without its tag and
// digest.
func OfImage[T any](images map[string]T, image string) (found T, ok bool) {
	if found, ok = images[image]; ok {
		return found, true
	}
	image, _, _ = strings.Cut(image, "@")
	if found, ok = images[image]; ok {
		return found, true
	}
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		found, ok = images[image[:colon]]
	}
	return found, ok
}
