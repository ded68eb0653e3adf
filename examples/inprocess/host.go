package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Host is the real machine of this program.
type Host struct{}

// MkdirAll calls os.MkdirAll.
func (Host) MkdirAll(path string, mode fs.FileMode) error { return os.MkdirAll(path, mode) }

// Remove calls os.Remove.
func (Host) Remove(path string) error { return os.Remove(path) }

// RemoveAll calls os.RemoveAll.
func (Host) RemoveAll(path string) error { return os.RemoveAll(path) }

// Lstat calls os.Lstat.
func (Host) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// BindMount does the same as mount --bind.
func (Host) BindMount(source, target string, readOnly bool) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil || !readOnly {
		return err
	}
	return unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

// Unmount does the same as umount.
func (Host) Unmount(target string) error { return unix.Unmount(target, 0) }

// IsMountPoint reports whether the directory is the root of a mount.
func (Host) IsMountPoint(path string) (bool, error) {
	var found unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, filepath.Clean(path), unix.AT_SYMLINK_NOFOLLOW, 0, &found)
	if errors.Is(err, unix.ENOENT) {
		return false, fs.ErrNotExist
	}
	return found.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, err
}
