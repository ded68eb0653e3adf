package machine

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// writesReadOnly tries to write like a container, in a private copy of the tree of mounts with a
// read-only top.
func (d *Disk) writesReadOnly(target string, places []string) (found string, err error) {
	err = d.look(func() error {
		tree, err := unix.OpenTree(unix.AT_FDCWD, d.within(target), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return fmt.Errorf("copy the mounts at %s: %w", target, err)
		}
		defer unix.Close(tree)
		if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("make a copy of %s read-only: %w", target, err)
		}
		for _, place := range places {
			name := path.Join(".", strings.TrimPrefix(place, target), probeName)
			if unix.Mkdirat(tree, name, 0o755) == nil {
				found = place
				return unix.Unlinkat(tree, name, unix.AT_REMOVEDIR)
			}
		}
		return nil
	})
	return found, err
}
