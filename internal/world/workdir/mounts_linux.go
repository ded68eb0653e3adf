package workdir

import (
	"errors"
	"fmt"
	"slices"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// unmountBelow unmounts all mounts below dir in this mount namespace. It begins with the latest
// mount, so that no mount covers the next one.
func unmountBelow(dir string) ([]string, error) {
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(dir))
	if err != nil {
		return nil, fmt.Errorf("read the mount table: %w", err)
	}
	var unmounted []string
	for _, m := range slices.Backward(mounts) {
		if err := unmount(m.Mountpoint); err != nil {
			return unmounted, err
		}
		unmounted = append(unmounted, m.Mountpoint)
	}
	return unmounted, nil
}

func unmount(target string) error {
	err := unix.Unmount(target, unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, unix.EBUSY) {
		err = unix.Unmount(target, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil // the mount ended with another one that was detached before
	}
	if err != nil {
		return fmt.Errorf("unmount %s: %w", target, err)
	}
	return nil
}
