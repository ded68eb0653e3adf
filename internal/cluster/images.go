package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/csisim/csisim/fakekubelet"
)

// Images are the root file systems that were unpacked.
type Images struct {
	// Dir is the directory of all unpacked images.
	Dir string

	lock sync.Mutex
	n    int
	byID map[string]string // the directory of each
	done bool
}

// Unpack unpacks a root file system, unless it is a directory or already unpacked.
func (i *Images) Unpack(ctx context.Context, root fakekubelet.RootFS) (fakekubelet.RootFS, error) {
	if root.Unpack == nil {
		return root, nil
	}
	unpack := root.Unpack
	root.Unpack = nil
	if root.Dir = i.byID[root.ID]; root.ID != "" && root.Dir != "" {
		return root, nil
	}
	root.Dir = filepath.Join(i.Dir, fmt.Sprint(i.n))
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

// errEnded is the error for a requested image after the cluster has ended.
var errEnded = errors.New("the cluster has ended")

// Pull fetches and unpacks an image, one at a time as kubelets do.
func (i *Images) Pull(ctx context.Context, fetch func(context.Context, string) (fakekubelet.RootFS, error), image string) (fakekubelet.RootFS, error) {
	i.lock.Lock()
	defer i.lock.Unlock()
	if i.done {
		return fakekubelet.RootFS{}, errEnded
	}
	root, err := fetch(ctx, image)
	if err != nil {
		return root, err
	}
	return i.Unpack(ctx, root)
}

// End waits for the image that is being unpacked, and rejects further images.
func (i *Images) End() {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.done = true
}
