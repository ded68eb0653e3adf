package machine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// forgetPages drops the cached pages of a device, so that the next read goes to the device.
// Programs that share a device between nodes do the same, because cached pages of an open device
// hide the writes of other nodes. Advice only.
func forgetPages(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// FileSystemBytes returns the size of the file system in which a path lies. It fails for FUSE,
// since a FUSE server answers any size.
func (d *Disk) FileSystemBytes(p string) (size int64, err error) {
	err = d.look(func() error {
		var fs unix.Statfs_t
		if err := unix.Statfs(d.within(p), &fs); err != nil {
			return &os.PathError{Op: "statfs", Path: p, Err: err}
		}
		if fs.Type == unix.FUSE_SUPER_MAGIC {
			return &os.PathError{Op: "statfs", Path: p, Err: errors.ErrUnsupported}
		}
		size = int64(fs.Blocks) * fs.Bsize
		return nil
	})
	return size, err
}
