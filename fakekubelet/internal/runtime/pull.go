package runtime

import "context"

// Pulls reports whether an image has to be fetched. Entries of images and of root file systems are
// local.
func (r *Runtime) Pulls(image string) bool {
	_, mapped := OfImage(r.options.RootFS, image)
	return r.options.Pull != nil && !mapped && r.Executable(image) == ""
}

// Pull fetches an image. It is safe for concurrent use.
func (r *Runtime) Pull(ctx context.Context, image string) (RootFS, error) {
	return r.options.Pull(ctx, image)
}

// Keep makes containers of the image use the fetched root file system.
func (r *Runtime) Keep(image string, root RootFS) { r.pulled[image] = root }
